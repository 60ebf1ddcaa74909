"""What is found, in which order, and what a result shows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from gateway.contract import Tier, ToolFailed
from plugins.knowledge.listing import ListFilters
from plugins.knowledge.retrieval.filters import SearchFilters

CELL = "Small autonomous teams that govern themselves. " * 6


async def ids(base, question: str, tier: Tier = Tier.MEMBERS, **filters) -> list[str]:
    narrowed = SearchFilters.model_validate({"limit": 20} | filters)
    found = await base.knowledge.search(question, narrowed, tier)
    return [result.id for result in found.results]


async def test_the_document_whose_name_is_asked_for_comes_first(base, make) -> None:
    await base.put(
        make("article/long", "Working group, working group, working group. " * 20),
        make("tag/wg", "A team.", title="Working groups", aliases=["#WG"]),
    )
    assert (await ids(base, "working group"))[0] == "wg"
    assert (await ids(base, "WGs"))[0] == "wg"


async def test_a_quotation_finds_its_passage(base, make) -> None:
    pages = [make(f"pattern/p{n}", f"{CELL}\n\n## More\n\n{CELL}") for n in range(8)]
    quoted = make("pattern/quoted", f"{CELL}\n\n## More\n\nTeams that barely govern a boat.")
    await base.put(*pages, quoted)
    assert (await ids(base, "that barely govern a boat"))[0] == "quoted"


async def test_a_heading_of_a_short_section_is_found_by_its_words(base, make) -> None:
    pages = [make(f"practice/p{n}", f"Clause {n} of the fee.\n\n{CELL}") for n in range(30)]
    short = "# New fees\n\nThe fee is 25.\n\n## Zorblax clause\n\nNobody pays.\n\n## Wombats\n"
    await base.put(*pages, make("practice/fees", short, title="New fees"))
    for asked, section in (
        ("Zorblax clause", "Zorblax clause"),
        ("zorblax", "Zorblax clause"),
        ("wombats", "Wombats"),
        ("what is the new fee", "New fees"),
    ):
        found = await base.knowledge.search(asked, SearchFilters(limit=1), Tier.MEMBERS)
        (result,) = found.results
        assert (result.id, result.section[-1]) == ("fees", section)


async def test_what_one_document_alone_has_as_a_tag_finds_it(base, make) -> None:
    pages = [make(f"practice/p{n}", f"The mortgage of house {n}. {CELL}") for n in range(30)]
    tagged = make("practice/tagged", "Ask the bank for a letter.", tags=["mortgages", "check in"])
    hidden = make("practice/h", "Ask.", tags=["check in"], tier=Tier.MEMBERS)
    await base.put(*pages, tagged, hidden)
    assert (await ids(base, "Mortgage"))[0] == "tagged"
    assert (await ids(base, "check in", Tier.PUBLIC))[0] == "tagged"
    assert "h" not in await ids(base, "check in", Tier.PUBLIC)
    assert set((await ids(base, "check-in"))[:2]) == {"tagged", "h"}


async def test_a_document_is_found_by_the_number_it_goes_by(base, make) -> None:
    about = "EIP-1559 and EIP-4844 change what a proposal costs, and its author says how."
    pages = [make(f"practice/p{n}", f"Proposal {n}. {about} {CELL}") for n in range(30)]
    fees = make("practice/eip-1559", "The base fee is burned.", title="Fee market change")
    hidden = make("practice/eip-77", "Ask.", title="Blobs", tier=Tier.MEMBERS)
    tokens = make("practice/tokens", "Who holds one.", title="ERC-0020: tokens")
    await base.put(*pages, fees, tokens, hidden)
    for asked in ("EIP-1559", "eip 1559", "who wrote EIP1559?", "What does EIP-1559 propose"):
        assert (await ids(base, asked))[0] == "eip-1559"
    assert (await ids(base, "Is ERC-20 final?"))[0] == "tokens"
    assert (await ids(base, "what is EIP-77"))[0] == "eip-77"
    releases = [make(f"file/release-3.{n}", "What is new.", title=f"In 3.{n}") for n in range(20)]
    await base.put(*releases)
    assert (await ids(base, "what is new in version 3.12?"))[0] == "release-3.12"
    assert "eip-77" not in await ids(base, "what is EIP-77", Tier.PUBLIC)


async def test_the_minutes_of_a_day_are_found_by_the_day(base, make) -> None:
    said = "Minutes of the council, with who was there on which day and what was discussed."
    pages = [make(f"file/2024-04-{n:02}", f"{said} Item {n}.") for n in range(1, 29)]
    titled = make("file/may", said, title="Council, May 14, 2024")
    await base.put(*pages, titled)
    for asked, id in (
        ("What was discussed on 2024-04-10?", "2024-04-10"),
        ("who was there on April 9, 2024", "2024-04-09"),
        ("minutes of the 3rd of April 2024", "2024-04-03"),
        ("what was discussed on 14 May 2024", "may"),
        ("what was discussed in May 2024", "may"),
    ):
        assert (await ids(base, asked))[0] == id


async def test_a_members_word_finds_what_says_the_communitys_term(base, make) -> None:
    pages = [make(f"practice/p{n}", f"The purse of unit {n} is full. {CELL}") for n in range(12)]
    term = make("tag/steward", "Who looks after it.", title="Steward", aliases=["quokkaherd"])
    says = make("practice/holon", "Every holon has a steward and a purse.")
    await base.put(*pages, term, says)
    for asked in ("quokkaherd and purse", "what does a quokkaherd have", "quokkaherds"):
        assert set((await ids(base, asked))[:2]) == {"steward", "holon"}


@pytest.mark.parametrize("title", ["the", "meeting"])
async def test_a_term_that_is_called_everything_takes_no_answer_away(base, make, title) -> None:
    pages = [make(f"practice/p{n}", f"We meet with the budget of the month {n}.") for n in range(8)]
    fees = make("practice/fees", "The membership fee: holon, purse, tool, garden, boat, rope.")
    await base.put(*pages, fees)
    before = (await ids(base, "budget of the month"))[:8]
    words = ["budget", "holon", "purse", "tool", "garden", "boat", "rope"]
    aliases = [*words, *(f"alias{n}" for n in range(300))]
    await base.put(make("tag/hub", "Nothing.", title=title, aliases=aliases))
    found = await ids(base, "budget of the month")
    assert {f"p{n}" for n in range(8)} == set(before) == set(found[:8])


async def test_a_paraphrase_is_found_by_meaning(open_base, word_embedder, make) -> None:
    base = await open_base(embedder=word_embedder(holiday="leave", boss="supervisor"))
    await base.put(
        make("protocol/leave", "Ask a supervisor for leave.", title="Leave"),
        make("protocol/boats", "Boats and ships and the sea.", title="Boats"),
    )
    assert (await ids(base, "boss holiday"))[0] == "leave"


async def test_a_result_names_the_document_and_shows_its_best_passage(base, make) -> None:
    await base.put(
        make(
            "pattern/cells",
            f"## Why\n\n{CELL}\n\n## Cost\n\nA cell costs three coffees a day. {CELL}",
            title="Cells",
            description="Teams of few.",
            group="dao-primitives",
            status="active",
            tags=["teams", "coffee"],
        )
    )
    found = await base.knowledge.search("three coffees", SearchFilters(), Tier.OPEN)
    (result,) = found.results
    assert (result.content_type, result.id, result.title) == ("pattern", "cells", "Cells")
    assert (result.description, result.group) == ("Teams of few.", "dao-primitives")
    assert (result.status, result.tags) == ("active", ["teams", "coffee"])
    assert (result.path, result.synced_at.year) == ("pattern/cells.md", 2025)
    assert "three coffees" in result.passage
    assert result.permalink == "mcp://test/documents/pattern/cells"
    assert 0 < result.score <= 1
    assert result.rerank_score is None
    assert result.document is None
    assert found.mode == "hybrid"


async def test_a_parent_type_finds_its_children(base, make) -> None:
    await base.put(make("pattern/a", "Bread."), make("tag/b", "Bread."), make("file/c", "Bread."))
    assert await ids(base, "bread", contentType="resource") == ["a"]
    assert await ids(base, "bread", contentType="reference") == ["b"]
    assert await ids(base, "bread", contentType="file") == ["c"]


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
@pytest.mark.parametrize("name", ["dateFrom", "dateTo", "asOf"])
def test_a_moment_that_leaves_the_calendar_in_utc_is_no_date(name: str, moment: str) -> None:
    with pytest.raises(ValidationError, match="is not a date"):
        SearchFilters.model_validate({name: moment})


def test_a_span_of_days_that_ends_before_it_begins_is_refused() -> None:
    SearchFilters.model_validate({"dateFrom": "2025-03-02", "dateTo": "2025-03-02"})
    with pytest.raises(ValidationError, match="lies before dateFrom"):
        SearchFilters.model_validate({"dateFrom": "2025-03-02", "dateTo": "2025-03-01"})


def test_the_last_day_of_the_calendar_counts_whole() -> None:
    filters = SearchFilters.model_validate({"dateTo": "9999-12-31"})
    (condition,) = filters.conditions(Tier.MEMBERS)
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert condition.at_most == int(last.timestamp() * 1000) + 999


@pytest.mark.parametrize(
    "filters",
    [
        {"group": "Bakers"},
        {"release": "one"},
        {"status": "Active"},
        {"tags": ["x", "Sour"]},
        {"dateFrom": "2024-05-01"},
        {"dateFrom": "2024-05-01", "dateTo": "2024-05-02"},
    ],
)
async def test_filters_narrow_a_search(base, make, filters) -> None:
    await base.put(
        make(
            "project/wanted",
            "Bread.",
            title="Bread",
            date="2024-05-02T18:00:00Z",
            group="bakers",
            release="One",
            status="active",
            tags=["sour"],
        ),
        make("project/other", "Bread.", title="Bread", date="2024-04-30"),
    )
    assert await ids(base, "bread", **filters) == ["wanted"]
    assert await ids(base, "Bread", **filters) == ["wanted"]


async def test_results_come_newest_first_where_asked(base, make) -> None:
    for number in (2, 1, 3):
        await base.put(make(f"pattern/p{number}", "Bread.", date=f"2024-0{number}-01"))
    assert await ids(base, "bread", sort="date") == ["p3", "p2", "p1"]


async def test_a_date_in_the_future_counts_as_the_day_on_which_the_document_was_read(
    base, make
) -> None:
    later = make("practice/later", "Bread.", date="2025-02-01", release="two")
    await base.put(
        make("practice/plan", "Bread.", date="2999-01-01", release="one"),  # read on 2025-01-01
        later.model_copy(update={"synced_at": datetime(2025, 2, 2, tzinfo=UTC)}),
        make("practice/sooner", "Bread.", date="2024-02-01"),
    )
    newest = ["later", "plan", "sooner"]
    assert await ids(base, "bread", sort="date") == newest
    listed = base.knowledge.listed(ListFilters(), "date", 0, 9, Tier.MEMBERS)
    assert [one.id for one in listed.documents] == newest
    assert await ids(base, "bread", dateFrom="2998-01-01") == ["plan"]
    assert [one.release for one in base.knowledge.releases(Tier.MEMBERS).releases] == ["two", "one"]


async def test_no_more_results_than_asked_for(base, make) -> None:
    await base.put(*[make(f"pattern/p{number}", "Bread.") for number in range(30)])
    assert len(await ids(base, "bread", limit=1)) == 1
    assert len(await ids(base, "bread", limit=20)) == 20
    assert len((await base.knowledge.search("bread", SearchFilters(), Tier.OPEN)).results) == 5


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 21}, {"contentType": "x"}, {"y": 1}])
def test_filters_that_make_no_sense_are_refused(wrong) -> None:
    with pytest.raises(ValidationError):
        SearchFilters.model_validate(wrong)


@pytest.mark.parametrize(
    ("question", "reason"),
    [("", "empty"), (" \n\t ", "empty"), ("x" * 100_000, "100000"), ("a\x00b", "control")],
)
async def test_questions_that_cannot_be_asked_are_refused(base, question, reason) -> None:
    with pytest.raises(ToolFailed, match=reason) as failed:
        await base.knowledge.search(question, SearchFilters(), Tier.OPEN)
    assert failed.value.code == "invalid_query"


@pytest.mark.parametrize(
    "question", ["the of and", "?!", "\u65e5\u672c\u8a9e", "a" * 2000, "l\u2019\u00e9t\u00e9"]
)
async def test_odd_questions_are_answered(base, make, question) -> None:
    await base.put(make("pattern/cells", CELL))
    assert isinstance(await ids(base, question), list)


async def test_an_empty_knowledge_base_has_no_results(base) -> None:
    assert await ids(base, "anything") == []


async def test_documents_come_with_their_results_only(base, make) -> None:
    await base.put(make("pattern/a", "Bread and butter."), make("pattern/b", "Stone."))
    await base.host.objects.delete("content/pattern/b.json")
    found = await base.knowledge.search("bread", SearchFilters(), Tier.OPEN, documents=True)
    assert [(one.id, one.document.content) for one in found.results] == [("a", "Bread and butter.")]


class CountingReranker:
    """Judges a passage by how often it says ``bread``."""

    model = "bread"

    def __init__(self) -> None:
        self.asked = 0

    async def scores(self, query, passages):
        self.asked += 1
        return [min(1.0, passage.lower().count("bread") / 10) for passage in passages]


async def test_a_reranker_orders_the_results_and_is_asked_once_an_hour(
    open_base, word_embedder, make
) -> None:
    reranker = CountingReranker()
    base = await open_base(embedder=word_embedder(), reranker=reranker)
    await base.put(make("pattern/plain", "Bread."), make("pattern/rich", "Bread, bread, bread."))
    for _ in range(2):
        assert await ids(base, "bread") == ["rich", "plain"]
    found = await base.knowledge.search("bread", SearchFilters(), Tier.OPEN)
    assert [result.rerank_score for result in found.results] == [0.3, 0.1]
    assert reranker.asked == 1
    await base.put(make("pattern/rich", "Bread, bread, bread, bread."))
    await ids(base, "bread")
    assert reranker.asked == 2
