"""Facets of a search: counted over everything that matches, and over nothing else."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.library import Library, library
from gateway.contract import Tier
from plugins.knowledge.results import SearchResults
from plugins.knowledge.retrieval.filters import MAX_RESULTS, SearchFilters
from plugins.knowledge.retrieval.floor import FLOOR
from tests.examples import examples
from tests.plugins.knowledge.retrieval.conftest import Base, document, opened

GROUPS = ("crew", "team", "")
HANDBOOK = Path(__file__).parents[4] / "content"
QUESTIONS = (
    "how do I hide a tool",
    "backup of the database",
    "what is a floor",
    "who decides about money",
    "tier",
    "webhook secret",
    "how do zebras sleep on the moon",
)


async def counted(
    base: Base, question: str, tier: Tier = Tier.MEMBERS, **filters: Any
) -> SearchResults:
    narrowed = SearchFilters.model_validate(filters)
    return await base.knowledge.search(question, narrowed, tier, facets=True)


def values(found: SearchResults, name: str) -> dict[str, int]:
    assert found.facets is not None
    return {one.value: one.documents for one in found.facets[name]}


async def test_facets_are_counted_over_more_than_is_shown(base: Base) -> None:
    pages = [
        document(f"article/a{n}", "Bread is baked.", group=("crew", "team")[n % 2], tags=["Food"])
        for n in range(MAX_RESULTS + 10)
    ]
    await base.put(*pages, document("tag/boats", "Ships at sea.", group="fleet"))
    found = await counted(base, "bread is baked", limit=3)
    assert len(found.results) == 3
    assert found.matching == len(pages)
    assert values(found, "group") == {"crew": 15, "team": 15}
    assert values(found, "tags") == {"food": 30}
    narrowed = await counted(base, "bread is baked", group="crew")
    assert narrowed.matching == values(found, "group")["crew"]


async def test_facets_cost_nothing_where_nobody_asks(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    await base.put(document("article/a", "Bread."))
    asked: list[int] = []
    search = base.knowledge.index.collection.search

    async def counting(queries: Any) -> Any:
        asked.append(len(queries))
        return await search(queries)

    monkeypatch.setattr(base.knowledge.index.collection, "search", counting)
    plain = await base.knowledge.search("Bread", SearchFilters(), Tier.OPEN)
    before = len(asked)
    assert (plain.facets, plain.matching) == (None, None)
    asked.clear()
    await counted(base, "Bread", Tier.OPEN)
    assert len(asked) == before + 2


async def test_where_nothing_fits_nothing_is_counted(base: Base) -> None:
    await base.put(document("article/a", "Bread."))
    found = await counted(base, "zeppelin")
    assert (found.results, found.matching, values(found, "contentType")) == ([], 0, {})


async def test_without_a_model_what_holds_enough_of_the_words_matches(tmp_path: Any) -> None:
    async with opened(tmp_path) as base:
        await base.put(
            *(document(f"article/a{n}", "Bread is baked.") for n in range(40)),
            *(document(f"tag/t{n}", "Ships at sea.") for n in range(5)),
        )
        found = await counted(base, "bread and butter")
        assert (found.mode, found.matching) == ("keyword", 40)
        assert values(found, "contentType") == {"article": 40}
        vain = await counted(base, "bread butter jam cheese")
        assert (vain.results, vain.matching) == ([], 0)


async def test_a_type_is_counted_with_those_below_it_as_the_filter_finds_them(base: Base) -> None:
    kinds = ("story", "article", "article", "tag")
    await base.put(*(document(f"{kind}/a{n}", "Bread.") for n, kind in enumerate(kinds)))
    found = await counted(base, "bread")
    assert values(found, "contentType") == {"story": 3, "article": 2, "tag": 1}
    assert (await counted(base, "bread", contentType="story")).matching == 3


async def narrowings_agree(base: Library, question: str, *, meaning: bool) -> int:
    """Narrow a search to each value that it counts; how many there were."""

    async def asked(**narrowed: Any) -> SearchResults:
        filters = SearchFilters.model_validate({"limit": MAX_RESULTS, **narrowed})
        return await base.knowledge.search(
            question, filters, Tier.MEMBERS, facets=True, meaning=meaning
        )

    found = await asked()
    low = [one for one in found.results if one.score < FLOOR - 1e-4 and one.standing is None]
    assert found.matching is not None
    assert (found.matching > 0) == bool(found.results)
    assert not meaning or found.matching >= len(found.results) - len(low)
    narrowings = [(name, one) for name, values in (found.facets or {}).items() for one in values]
    for name, one in narrowings:
        narrowed = await asked(**{name: [one.value] if name == "tags" else one.value})
        counts = (name, one.value, narrowed.matching, bool(narrowed.results))
        assert counts == (name, one.value, one.documents, True)
    return len(narrowings)


async def test_as_many_documents_as_are_counted_match_once_a_search_is_narrowed(
    tmp_path: Path,
) -> None:
    """Over notes of the handbook, with the model that Porch brings, and by words alone."""
    for part in ("artifacts/patterns", "artifacts/questions", "data", "tags"):
        shutil.copytree(HANDBOOK / part, tmp_path / "content" / part)
    async with library(tmp_path / "content", tmp_path / "data") as base:
        await base.sync.run()
        for meaning in (True, False):
            tried = [await narrowings_agree(base, one, meaning=meaning) for one in QUESTIONS]
            assert sum(tried) > 50
            assert 0 in tried  # what nothing answers


WORDS = ("bread", "baker", "oven", "ship", "sea", "sail")
DOCUMENTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
        st.sampled_from(list(Tier)),
        st.sampled_from(GROUPS),
    ),
    min_size=1,
    max_size=MAX_RESULTS,
)


@settings(
    max_examples=examples(24),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(made=DOCUMENTS, question=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
async def test_facets_are_those_of_all_that_score_enough_and_that_the_caller_may_see(
    base: Base, made: list[Any], question: list[str]
) -> None:
    known = base.knowledge.store.entries(Tier.MEMBERS)
    await base.remove(*[entry.key for entry in known])
    await base.put(
        *[
            document(
                f"article/a{n}", " ".join(words), tier=tier, group=group or None, tags=[f"t{n}"]
            )
            for n, (words, tier, group) in enumerate(made)
        ]
    )
    for tier in Tier:
        found = await counted(base, " ".join(question), tier, limit=MAX_RESULTS)
        seen = {f"t{n}" for n, (_, own, _) in enumerate(made) if tier.allows(own)}
        assert values(found, "tags").keys() <= seen
        # With no more documents than results, every one that scores enough is shown as well.
        enough = [one for one in found.results if one.score > FLOOR + 1e-3]
        shown = {tag for one in found.results for tag in one.tags or ()}
        assert {tag for one in enough for tag in one.tags or ()} <= values(found, "tags").keys()
        assert values(found, "tags").keys() <= shown
        assert found.matching == len(values(found, "tags"))
        for group, documents in values(found, "group").items():
            assert (
                await counted(base, " ".join(question), tier, group=group)
            ).matching == documents
        groups = Counter(
            group
            for n, (_, _, group) in enumerate(made)
            if group and f"t{n}" in values(found, "tags")
        )
        assert values(found, "group") == groups


@pytest.mark.parametrize("tier", list(Tier))
async def test_what_a_tier_may_not_see_is_in_no_count(base: Base, tier: Tier) -> None:
    await base.put(
        document("article/open", "Bread is baked.", group="crew"),
        document("article/closed", "Bread is baked.", group="hidden", tier=Tier.MEMBERS),
    )
    found = await counted(base, "bread is baked", tier)
    expected = {"crew": 1, "hidden": 1} if tier == Tier.MEMBERS else {"crew": 1}
    assert values(found, "group") == expected


async def test_values_are_one_however_their_marks_are_encoded(base: Base) -> None:
    """Of two notes one is written on a Mac."""
    apart: dict[str, Any] = {
        "tags": ["Cafe\u0301"],
        "group": "Mu\u0308ll",
        "status": "Gu\u0308ltig",
    }
    composed: dict[str, Any] = {
        "tags": ["Caf\u00e9"],
        "group": "M\u00fcll",
        "status": "G\u00fcltig",
    }
    await base.put(
        document("article/a", "Bread is baked.", **apart),
        document("article/b", "Bread is sold.", **composed),
    )
    filtered: list[dict[str, Any]] = [
        {name: one[name]} for one in (apart, composed) for name in one
    ]
    for filters in ({}, *filtered):
        found = await counted(base, "bread", **filters)
        assert len(found.results) == 2, filters
        assert values(found, "tags") == {"caf\u00e9": 2}
        assert values(found, "group") == {"m\u00fcll": 2}
        assert values(found, "status") == {"g\u00fcltig": 2}
