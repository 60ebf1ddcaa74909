"""A status says whether a document holds, and what stands in its place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gateway.contract import Tier
from plugins.knowledge.retrieval.filters import SearchFilters

TODAY = datetime.now(UTC)


async def found(base, **filters):
    narrowed = SearchFilters.model_validate({"limit": 20} | filters)
    results = (await base.knowledge.search("bread", narrowed, Tier.MEMBERS)).results
    return {one.id: one.standing.text if one.standing else "" for one in results}


@pytest.mark.parametrize("status", ["Withdrawn", "deprecated since May", "⚠ Rejected", "veraltet"])
async def test_a_status_that_ends_a_document_does_so(base, make, status) -> None:
    await base.put(
        make("file/old", "Bread, bread and bread.", title="Loaves", status=status),
        make("file/new", "Rolls of bread.", title="Rolls", status="Final, replaces loaves"),
    )
    seen = await found(base)
    assert list(seen) == ["new", "old"]
    assert seen == {"new": "", "old": f"its status is '{status}'"}
    assert set(await found(base, as_of=f"{TODAY - timedelta(days=3):%Y-%m-%d}")) == {"new", "old"}
    assert set(await found(base, as_of=f"{TODAY:%Y-%m-%d}")) == {"new"}
    assert not base.knowledge.standings.wanting_look(Tier.MEMBERS)


@pytest.mark.parametrize(
    "said", ["ADR-2", "[ADR-0002](0002-new.md)", "ADR 0002", "New way", "decisions/0002-new.md"]
)
async def test_a_status_names_what_supersedes_a_document(base, make, said) -> None:
    status = f"superseded by {said}"
    old = make("file/decisions/0001-old", "Bread.", title="Bread", status=status)
    await base.put(old, make("file/decisions/0002-new", "Rolls of bread.", title="New way"))
    seen = await found(base)
    assert list(seen) == ["decisions/0002-new", "decisions/0001-old"]
    assert seen["decisions/0001-old"].startswith("superseded by file/decisions/0002-new")


async def test_a_status_that_names_what_is_not_here_asks_its_author(base, make) -> None:
    await base.put(make("file/old", "Bread.", title="Bread", status="Superseded by ADR-7"))
    assert await found(base) == {"old": "superseded"}
    (asked,) = base.knowledge.standings.wanting_look(Tier.MEMBERS)
    assert asked.reason == "it says to be superseded by 'ADR-7', which is not here"
