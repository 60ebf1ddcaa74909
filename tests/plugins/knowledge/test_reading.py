"""Reading without a question: sections, lists with counts, and what stands around a document."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import Tier, ToolFailed
from gateway.surfaces.views.markdown import markdown
from plugins.knowledge.listing import ListFilters
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.headings import MAX_SECTIONS
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.passages import cut
from plugins.knowledge.sections import called, sections
from tests.plugins.knowledge.retrieval.conftest import Base, WordEmbedder, document, opened

GUIDE = """Intro.

# Leave

Ask first.

## Who pays?

The *office*.

```
# no heading
```

## Cost

None.

# Travel

By train, see [votes](../protocol/votes.md) and [[Quorum|the quorum]].
Nothing: [[Ghost]] and [gone](./gone.md).
Not [this](https://example.org/a) nor `[[code]]`.
"""


@pytest.fixture
async def base(tmp_path: Path) -> AsyncGenerator[Base]:
    async with opened(tmp_path, WordEmbedder()) as base:
        await base.put(
            document("article/guide", GUIDE, title="Guide", tags=["Leave", "money"]),
            document("protocol/votes", "We vote. See [[guide]].", title="Votes", date="2025-03-01"),
            document("tag/quorum", "Half of us.", title="Quorum", related_terms=["Votes"]),
            document("article/secret", "See [[guide]].", title="Secret", tier=Tier.MEMBERS),
        )
        yield base


@pytest.mark.parametrize(
    ("asked", "trail"),
    [
        ("Who pays?", ["Leave", "Who pays?"]),
        ("who-pays", ["Leave", "Who pays?"]),
        ("#cost", ["Leave", "Cost"]),
        ("Leave > Cost", ["Leave", "Cost"]),
        ("TRAVEL", ["Travel"]),
    ],
)
async def test_a_section_is_found_by_its_heading(base: Base, asked: str, trail: list[str]) -> None:
    found = await base.knowledge.section(ContentType.ARTICLE, "guide", asked, Tier.OPEN)
    assert found.section == trail
    assert found.permalink == "mcp://test/documents/article/guide"


async def test_a_section_holds_those_below_it_and_no_others(base: Base) -> None:
    found = await base.knowledge.section(ContentType.ARTICLE, "guide", "Leave", Tier.OPEN)
    assert found.content.startswith("# Leave")
    assert "## Cost" in found.content
    assert "# no heading" in found.content
    assert "Travel" not in found.content


async def test_a_heading_that_is_not_there_names_those_that_are(base: Base) -> None:
    with pytest.raises(ToolFailed, match="There are: Leave; Leave > Who pays"):
        await base.knowledge.section(ContentType.ARTICLE, "guide", "no heading", Tier.OPEN)
    with pytest.raises(ToolFailed, match="Document not found"):
        await base.knowledge.section(ContentType.ARTICLE, "secret", "x", Tier.OPEN)


SETUP = """Setup
=====

Same
----
one

### Detail
first

## Same
two

### Detail
second

Same (2)
--------
three

```
Same
----
```
"""


def test_underlined_headings_begin_sections_and_repeated_ones_have_a_number() -> None:
    found = sections(SETUP)
    assert [" > ".join(one.trail) for one in found] == [
        "Setup",
        "Setup > Same",
        "Setup > Same > Detail",
        "Setup > Same (2)",
        "Setup > Same (2) > Detail",
        "Setup > Same (2) (2)",
    ]
    assert found[1].text == "Same\n----\none\n\n### Detail\nfirst"


def test_sections_by_the_hundred_thousand_are_told_apart_in_time() -> None:
    started = time.process_time()
    found = sections("# a\n" * 200_000)
    assert time.process_time() - started < 20
    last = found[-1]
    assert (len(found), last.trail, last.place.anchor) == (
        MAX_SECTIONS,
        (f"a ({MAX_SECTIONS})",),
        f"a-{MAX_SECTIONS - 1}",
    )
    assert last.text.count("# a") == 200_000 - MAX_SECTIONS + 1


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("Same", "one"),
        ("same (2)", "two"),
        ("Setup > Same (2)", "two"),
        ("#same-1", "two"),
        ("Setup > Same (2) > Detail", "second"),
        ("Same (2) (2)", "three"),
    ],
)
def test_each_of_several_sections_with_one_heading_is_found(asked: str, says: str) -> None:
    one = called(sections(SETUP), asked)
    assert one is not None
    assert says in one.text.splitlines()


HEADINGS = st.tuples(
    st.integers(1, 4),
    st.sampled_from(["Same", "Same (2)", "Other", "*Same*", "1. Same", "C#", "Same {#own}"]),
    st.sampled_from([0, 4, 400]),
)


@given(st.lists(HEADINGS, max_size=14))
def test_what_a_passage_is_cited_at_is_the_section_that_it_stands_in(
    written: list[tuple[int, str, int]],
) -> None:
    """However often a heading comes again, and as the portal's page and ``get_section`` have it."""
    text = "\n\n".join(
        f"{'#' * level} {heading}\n\n"
        + f"word{number}. " * (size and 1)
        + "And more. " * (size // 9)
        for number, (level, heading, size) in enumerate(written)
    )
    found = sections(text)
    assert len({one.trail for one in found}) == len({one.place.anchor for one in found})
    on_page = re.findall(r'id="section-([^"]*)"', markdown(text, anchors=True))
    assert [one.place.anchor for one in found] == on_page
    for passage in cut(text):
        cited = [one for one in (passage.place, *passage.places) if one is not None]
        by_name = [called(found, " > ".join(one.trail)) for one in cited]
        assert [one and one.place for one in by_name] == cited
        if passage.place is not None and by_name[0] is not None:
            assert set(re.findall(r"word\d+", passage.text)) <= set(
                re.findall(r"word\d+", by_name[0].text)
            )


@pytest.mark.parametrize("asked", ["Fees", "fees", "money", "fees-money", "Costs > Fees"])
def test_a_section_is_found_by_the_id_that_its_author_gives_it(asked: str) -> None:
    one = called(sections("# Costs\n\n## Fees {#money}\n\nNone.\n\n## Fees of others"), asked)
    assert one is not None
    assert (one.heading, one.place.anchor, one.place.on_github) == ("Fees", "money", "fees-money")


async def test_a_result_cites_the_deeper_section_that_is_named(base: Base) -> None:
    guide = "# Log\n\n## 1.0\n\n### Fixed\n\nA pump.\n\n## 0.9\n\n### Removed\n\nA valve."
    stated = document("article/log", guide, title="Log", permalink="https://example.org/log")
    await base.put(stated)
    found = await base.knowledge.search("valve removed", SearchFilters(), Tier.OPEN)
    (result,) = [one for one in found.results if one.id == "log"]
    assert result.section == ["Log", "0.9", "Removed"]
    assert result.permalink == "https://example.org/log#removed"
    section = " > ".join(result.section)
    shown = await base.knowledge.section(ContentType.ARTICLE, "log", section, Tier.OPEN)
    assert shown.content == "### Removed\n\nA valve."


async def test_of_sections_with_one_heading_the_one_below_what_is_asked_for_is_cited(
    base: Base,
) -> None:
    body = "# Printer\n\n## Setup\n\nPlug it in.\n\n# Plotter\n\n## Setup\n\nLoad vellum."
    await base.put(document("article/machines", body, title="Machines"))
    found = await base.knowledge.search("setup of the plotter", SearchFilters(), Tier.OPEN)
    (result,) = [one for one in found.results if one.id == "machines"]
    assert result.section is not None
    assert result.section[-2:] == ["Plotter", "Setup"]


async def test_the_address_of_a_repeated_section_leads_to_it(base: Base) -> None:
    stated = document("article/setup", SETUP, title="Setup", permalink="https://example.org/setup")
    await base.put(stated)
    found = await base.knowledge.section(ContentType.ARTICLE, "setup", "Same (2)", Tier.OPEN)
    assert found.section == ["Setup", "Same (2)"]
    assert found.permalink == "https://example.org/setup#same-1"
    with pytest.raises(ToolFailed, match=r"Setup > Same; .*Setup > Same \(2\); "):
        await base.knowledge.section(ContentType.ARTICLE, "setup", "Usage", Tier.OPEN)


COSTS = "# Plan\n\n## Costs\n\nTwo.\n\n## Costs\n\nThree.\n\n# Later\n\n## Costs\n\nFour.\n"


@pytest.mark.parametrize(
    ("asked", "others"),
    [
        ("Costs", "Plan > Costs (2); Later > Costs"),
        ("#costs", "Plan > Costs (2); Later > Costs"),
        ("Plan > Costs", "Plan > Costs (2)"),
        ("Costs (2)", None),
        ("#costs-2", None),
        ("Later > Costs", None),
        ("Later", None),
    ],
)
async def test_a_heading_that_several_sections_have_names_the_others(
    base: Base, asked: str, others: str | None
) -> None:
    await base.put(document("article/plan", COSTS, title="Plan"))
    found = await base.knowledge.section(ContentType.ARTICLE, "plan", asked, Tier.OPEN)
    assert found.note == (others and f"Other sections have this heading too: {others}.")


@given(
    st.lists(
        st.sampled_from(["# A", "## B", "## B (2)", "### C", "D", "---", "text", "```", ""]),
        max_size=20,
    )
)
def test_every_section_is_found_by_its_own_name(lines: list[str]) -> None:
    found = sections("\n".join(lines))
    assert [called(found, " > ".join(one.trail)) for one in found] == found


@given(st.lists(st.sampled_from(["# A", "## B", "### C", "text", "```", ""]), max_size=20))
def test_the_top_sections_hold_everything_after_the_first_heading(lines: list[str]) -> None:
    found = sections("\n".join(lines))
    for one in found:
        assert called(found, " > ".join(one.trail)) is not None
    tops = [one for one in found if len(one.trail) == 1]
    held = sum(one.text.count("text") for one in tops)
    heads = [n for n, line in enumerate(lines) if line.startswith("#")]
    fences = [n for n, line in enumerate(lines) if line == "```"]
    if heads and not fences:
        assert held == lines[heads[0] :].count("text")


async def test_a_list_counts_what_one_can_narrow_to(base: Base) -> None:
    found = base.knowledge.listed(ListFilters(), "title", 0, 2, Tier.OPEN)
    assert [one.id for one in found.documents] == ["guide", "quorum"]
    assert (found.total, found.next_offset) == (3, 2)
    counted = {one.value: one.documents for one in found.facets["contentType"]}
    assert counted == {"article": 1, "protocol": 1, "tag": 1}
    assert [one.value for one in found.facets["tags"]] == ["leave", "money"]
    rest = base.knowledge.listed(ListFilters(), "title", 2, 2, Tier.OPEN)
    assert [one.id for one in rest.documents] == ["votes"]
    assert rest.next_offset is None


async def test_a_list_holds_and_counts_nothing_above_the_callers_tier(base: Base) -> None:
    assert base.knowledge.listed(ListFilters(), "title", 0, 9, Tier.MEMBERS).total == 4
    shown = base.knowledge.listed(ListFilters(), "title", 0, 9, Tier.OPEN)
    assert "secret" not in shown.model_dump_json().lower()


async def test_the_newest_come_first_by_date_and_by_change(base: Base) -> None:
    newest = base.knowledge.listed(ListFilters(), "date", 0, 9, Tier.OPEN)
    assert newest.documents[0].id == "votes"
    changed = document("tag/quorum", "A third of us.", title="Quorum")
    await base.put(changed.model_copy(update={"synced_at": datetime(2026, 1, 1, tzinfo=UTC)}))
    lately = ListFilters(changed_since=datetime(2025, 6, 1, tzinfo=UTC))
    for filters in (ListFilters(), lately):
        found = base.knowledge.listed(filters, "changed", 0, 9, Tier.OPEN)
        assert found.documents[0].id == "quorum"
    assert found.total == 1
    ever = ListFilters.model_validate({"changedSince": "0001-01-01"})
    assert base.knowledge.listed(ever, "changed", 0, 9, Tier.OPEN).total > 1


async def test_links_lead_to_documents_and_back(base: Base) -> None:
    found = await base.knowledge.related(ContentType.ARTICLE, "guide", Tier.OPEN)
    assert {one.id for one in found.links} == {"votes", "quorum"}
    assert [one.id for one in found.backlinks] == ["votes"]
    assert found.dangling == ["[[Ghost]]", "./gone.md"]
    terms = await base.knowledge.related(ContentType.TAG, "quorum", Tier.OPEN)
    assert [one.id for one in terms.links] == ["votes"]


async def test_who_may_not_read_a_document_does_not_learn_that_it_links_here(base: Base) -> None:
    members = await base.knowledge.related(ContentType.ARTICLE, "guide", Tier.MEMBERS)
    assert [one.id for one in members.backlinks] == ["secret", "votes"]
    everyone = await base.knowledge.related(ContentType.ARTICLE, "guide", Tier.OPEN)
    assert "secret" not in everyone.model_dump_json()


async def test_a_link_to_what_one_may_not_read_is_like_one_that_leads_nowhere(base: Base) -> None:
    await base.put(document("article/open", "[[Secret]] and [[Ghost]]", title="Open"))
    found = await base.knowledge.related(ContentType.ARTICLE, "open", Tier.OPEN)
    assert (found.links, found.dangling) == ([], ["[[Secret]]", "[[Ghost]]"])


async def test_a_document_says_where_the_links_in_its_text_lead(base: Base) -> None:
    async def links(up_to: Tier = Tier.OPEN) -> dict[str, str]:
        found = await base.knowledge.answer(ContentType.ARTICLE, "open", up_to)
        return {one.written: f"{one.content_type}/{one.id}" for one in found.links or ()}

    said = "[[Votes|how]] [[Secret]] [[Ghost]] ![[Guide#Leave]] [no](gone.md) `[[Quorum]]`"
    await base.put(document("article/open", said, title="Open"))
    open_to_all = {"[[Votes|how]]": "protocol/votes", "[[Guide#Leave]]": "article/guide"}
    assert await links() == open_to_all
    assert await links(Tier.MEMBERS) == open_to_all | {"[[Secret]]": "article/secret"}
    await base.knowledge.related(ContentType.ARTICLE, "open", Tier.OPEN)  # which keeps them
    assert await links() == open_to_all
    await base.put(document("article/open", "[[Quorum]]", title="Open"))
    assert await links() == {"[[Quorum]]": "tag/quorum"}
    await base.put(document("article/open", "Nothing.", title="Open", related_terms=["Votes"]))
    assert await links() == {}


@pytest.mark.parametrize("id", ["Guide", "GUIDE", "article/guide", "article/guide.md"])
async def test_who_asks_for_a_document_by_another_name_is_told_its_id(base: Base, id: str) -> None:
    with pytest.raises(ToolFailed, match='Did you mean contentType "article" with id "guide"'):
        await base.knowledge.document(ContentType.PROTOCOL, id, Tier.OPEN)


async def test_who_asks_for_a_document_by_its_number_is_told_its_id(base: Base) -> None:
    await base.put(document("article/eip-1559", "It is burned.", title="Fee market"))
    with pytest.raises(ToolFailed, match='with id "eip-1559"'):
        await base.knowledge.document(ContentType.ARTICLE, "EIP-1559", Tier.OPEN)


@pytest.mark.parametrize("id", ["Secret", "article/secret", "SECRET", "", "/"])
async def test_what_one_may_not_read_is_suggested_to_nobody(base: Base, id: str) -> None:
    with pytest.raises(ToolFailed, match=r"^Document not found\.$"):
        await base.knowledge.document(ContentType.PROTOCOL, id, Tier.OPEN)


async def test_links_follow_changes(base: Base) -> None:
    await base.knowledge.related(ContentType.ARTICLE, "guide", Tier.OPEN)
    await base.put(document("protocol/votes", "We vote.", title="Votes"))
    found = await base.knowledge.related(ContentType.ARTICLE, "guide", Tier.OPEN)
    assert found.backlinks == []
    await base.remove("protocol/votes")
    found = await base.knowledge.related(ContentType.ARTICLE, "guide", Tier.OPEN)
    assert "../protocol/votes.md" in (found.dangling or [])


async def test_what_is_near_is_named_but_not_what_is_linked(base: Base) -> None:
    await base.put(document("article/trains", "By train.", title="Guide to trains", tags=["Leave"]))
    found = await base.knowledge.related(ContentType.ARTICLE, "guide", Tier.OPEN)
    assert "trains" in [one.id for one in found.near]
    assert not {"guide", "votes", "quorum"} & {one.id for one in found.near}


@pytest.mark.parametrize("asked", ["Größe", "gro\u0308ße", "Möbel > Größe"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_section_is_found_however_its_marks_are_encoded(asked: str, form: Any) -> None:
    text = unicodedata.normalize(form, "# Möbel\n\n## Größe\n\nZwei.")
    found = called(sections(text), asked)
    assert found is not None
    assert found.text.endswith("Zwei.")
