"""What a question is answered with: what fits, what is only near, and where only words count."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic_core import to_json

from gateway.contract import Caller, Tier
from gateway.services.embedding.service import open_embedder
from gateway.toolkit.words import terms
from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.model.query_context import EntryFilter, Question
from plugins.knowledge.memory.model.requests import Mode
from plugins.knowledge.memory.query.highlights import best_window
from plugins.knowledge.memory.query.lists import ListFilters
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.store.words import term_ids
from plugins.knowledge.memory.tools.entries import tools
from plugins.knowledge.memory.tools.results import MAX_ANSWER_BYTES, Memories
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, NOON, Opener, World

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


@pytest.fixture(scope="module")
def model() -> Any:
    """The model that a portal ships with."""
    return open_embedder("embedded")


@pytest.fixture
async def real(open_world: Opener, model: Any) -> World:
    """A memory that knows what words mean."""
    return await open_world(model)


@pytest.mark.parametrize("layer", ["episodic", "procedural", "semantic", "user"])
async def test_a_paraphrase_is_found_where_an_answer_says_nothing_else(
    real: World, layer: str
) -> None:
    said = "The release on Tuesday failed because the migration timed out."
    await real.remember(ANA, said, layer=layer)
    answer = await real.ask(ANA, "why did our deployment break", layer={"types": [layer]})
    assert [each.entry.content for each in answer.results] == [said]
    assert answer.metadata.layers_by_words == []


@pytest.mark.parametrize("layer", ["working", "session"])
async def test_where_words_alone_count_the_answer_says_so(real: World, layer: str) -> None:
    await real.remember(ANA, "The release on Tuesday failed.", layer=layer)
    answer = await real.ask(ANA, "why did our deployment break")
    assert answer.results == []
    assert answer.metadata.layers_by_words == ["working", "session"]
    keyword = await real.ask(ANA, "why did our deployment break", mode="keyword")
    assert keyword.metadata.layers_by_words == []


async def test_a_portal_without_a_model_says_that_all_were_asked_by_words(
    open_world: Opener,
) -> None:
    world = await open_world()
    answer = await world.ask(ANA, "anything", layer={"types": ["semantic", "user"]})
    assert answer.metadata.layers_by_words == ["semantic", "user"]


async def test_what_is_below_the_least_score_is_shown_apart_and_not_counted(world: World) -> None:
    near = await world.remember(ANA, "The rain barrel leaks.")
    far = await world.remember(ANA, "The barrel was bought long ago in the old market town.")
    scores = {each.entry.id: each.score for each in (await world.ask(ANA, "rain barrel")).results}
    assert scores[near.id] > scores[far.id] > 0
    least = (scores[near.id] + scores[far.id]) / 2
    await world.memory.usage.flush()
    for _ in range(2):
        answer = await world.ask(ANA, "rain barrel", options={"min_score": least, "nearest": 3})
        assert [each.entry.id for each in answer.results] == [near.id]
        assert [each.entry.id for each in answer.nearest or []] == [far.id]
        assert answer.metadata.total_results == 1
    plain = await world.ask(ANA, "rain barrel", options={"min_score": 1})
    assert (plain.results, plain.nearest) == ([], None)
    await world.memory.usage.flush()
    kept = await world.memory.entries.reads.read([near.id, far.id], caller_keys(ANA))
    assert (kept[near.id].uses, kept[far.id].uses) == (3, 1)


async def call(world: World, name: str, who: Caller = ANA, /, **args: Any) -> Any:
    tool = next(each for each in tools(world.memory) if each.name == name)
    assert tool.args is not None
    return await tool.run(tool.args.model_validate(args), who)


async def test_a_long_entry_is_answered_with_the_part_that_answers(world: World) -> None:
    filler = "Nothing of note was said on this day in the valley. " * 2200
    half = len(filler) // 2
    long = f"{filler[:half]}The xylophone is kept in the attic.{filler[half:]}"
    entry = await world.remember(ANA, long)
    answer: Memories = await call(world, "query_memory", query="where is the xylophone kept")
    hits: list[Any] = [*answer.results, *answer.nearest]
    (hit,) = hits
    assert "xylophone is kept in the attic" in hit.content
    assert "xylophone is kept in the attic" in answer.brief()
    assert len(to_json(answer)) + len(answer.brief()) < 2_500
    read = ""
    offset: int | None = 0
    while offset is not None:
        page = await call(world, "get_memory", id=entry.id, offset=offset)
        assert len(to_json(page)) < 10_000
        read, offset = read + page.content, page.next_offset
    assert read == long


async def test_many_answers_fit_a_budget_and_go_on_by_an_offset(world: World) -> None:
    kept = {(await world.remember(ANA, f"Bed {n}. " + "tomato " * 400)).id for n in range(30)}
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page: Memories = await call(
            world, "query_memory", query="tomato bed", limit=100, offset=offset
        )
        assert len(to_json(page)) < MAX_ANSWER_BYTES + 1_000
        assert len(page.brief()) < MAX_ANSWER_BYTES
        seen += [each.id for each in page.results]
        offset = page.next_offset
    assert len(seen) == len(set(seen))
    assert set(seen) == kept


async def test_an_offset_beyond_all_that_fits_is_told_so(world: World) -> None:
    await world.remember(ANA, "The rain barrel leaks.")
    page: Memories = await call(world, "query_memory", query="rain barrel", offset=5)
    assert page.note is not None
    assert page.note.startswith("Nothing more: 1 fit in all, and offset skips these.")


async def test_pages_go_on_beyond_what_is_compared_at_once(world: World) -> None:
    """An agent that takes ten at a time reads all that fits."""
    kept = {(await world.remember(ANA, f"Tomato bed number {n}.")).id for n in range(95)}
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page: Memories = await call(
            world, "query_memory", query="tomato bed", limit=10, offset=offset
        )
        assert page.total >= len(seen) + len(page.results)
        seen += [each.id for each in page.results]
        offset = page.next_offset
    assert len(seen) == len(kept)
    assert set(seen) == kept


async def test_what_memory_does_not_know_is_said_and_the_nearest_shown_apart(real: World) -> None:
    beds = "The beds are watered at six in the morning in summer."
    await call(real, "remember", content=beds, event_at="2026-01-05")
    await real.remember(ANA, "The treasury multisig needs three of five signatures.")
    nothing: Memories = await call(real, "query_memory", query="recipe for lasagna")
    assert (nothing.results, nothing.total) == ([], 0)
    assert nothing.note is not None
    assert nothing.note.startswith("Nothing fits.")
    assert nothing.brief().startswith("Nothing fits.")
    assert 0 < len(nothing.nearest) <= 3
    (watered,) = (each for each in nothing.nearest if each.content == beds)
    assert f"{watered.event_at:%Y-%m-%d}" == "2026-01-05"
    assert "by you; event 2026-01-05]" in nothing.brief()
    known: Memories = await call(real, "query_memory", query="when are the beds watered")
    assert known.results[0].content.startswith("The beds")
    assert "Nothing" not in (known.note or "")
    assert "working, session" in (known.note or "")


@pytest.mark.parametrize("text", ["", "a", "word " * 1000, "x" * 5000, "ключ " * 900])
@pytest.mark.parametrize("asked", ["", "word", "key ключ", "none of it"])
def test_a_part_is_of_the_text_and_no_longer_than_asked(text: str, asked: str) -> None:
    start, end = best_window(text, frozenset(terms(asked)), 100)
    assert 0 <= start <= end <= len(text)
    assert end - start == min(len(text), 100)


async def test_a_list_is_of_what_one_may_read_the_newest_first(world: World) -> None:
    first = await world.remember(ANA, "One.", tags=["red"], author="Ana")
    pad = await world.remember(ANA, "Two.", layer="working")
    theirs = await world.remember(BEN, "Three.", "public", "episodic")
    await world.remember(BEN, "Four.")
    changed = await world.change(ANA, first.id, "One again.")

    async def ids(who: Caller = ANA, **filters: Any) -> list[str]:
        found = await world.memory.lists(ListFilters.model_validate(filters), who)
        assert found.total == len(found.ids)
        read = await world.memory.lists.read(found.ids, who)
        assert [each.id for each in read] == list(found.ids)
        return list(found.ids)

    assert await ids() == [theirs.id, pad.id, changed.id]
    assert await ids(mine=True) == [pad.id, changed.id]
    assert await ids(CY) == [theirs.id]
    assert await ids(Caller("person:eve", Tier.PUBLIC), layers=["semantic", "working"]) == []
    assert await ids(layers=["episodic"]) == [theirs.id]
    assert await ids(tags=["red"]) == [changed.id]
    assert await ids(author="Ana") == [pad.id, changed.id]
    assert await ids(policy="public") == [theirs.id]
    assert await ids(since=theirs.created_at.isoformat()) == [theirs.id]
    assert await ids(until=first.created_at.isoformat()) == [changed.id]
    listing = await call(world, "list_memory", mine=True)
    shown = await listing.ready(listing.items)
    assert [(each.id, each.mine, each.layer) for each in shown] == [
        (pad.id, True, "working"),
        (changed.id, True, "semantic"),
    ]


def test_a_time_without_its_zone_is_one_of_utc_and_a_day_that_ends_counts_whole() -> None:
    filters = ListFilters.model_validate({"since": "2026-03-01T12:00:00", "until": "2026-03-01"})
    assert filters.since == NOON
    assert str(filters.until) == "2026-03-01 23:59:59.999999+00:00"


async def test_sharing_is_changed_by_its_owner_and_with_consent(world: World) -> None:
    entry = await world.remember(ANA, "The gate opens at nine.")
    with pytest.raises(MemoryFailed):
        await call(world, "get_memory", BEN, id=entry.id)
    made = await call(
        world, "update_memory", id=entry.id, policy="restricted", approved_users=["person:ben"]
    )
    assert (made.status, made.version) == ("updated", 2)
    assert (await call(world, "get_memory", BEN, id=entry.id)).content == "The gate opens at nine."
    with pytest.raises(MemoryFailed, match="owner"):
        await call(world, "update_memory", BEN, id=entry.id, policy="public")
    waits = await call(world, "update_memory", id=entry.id, policy="public")
    assert waits.status == "pending_approval"
    with pytest.raises(MemoryFailed):
        await call(world, "get_memory", CY, id=entry.id)
    private = await call(world, "update_memory", id=entry.id, policy="private")
    assert private.status == "updated"
    with pytest.raises(MemoryFailed):
        await call(world, "get_memory", BEN, id=entry.id)


async def test_what_is_asked_of_a_time_is_answered_by_what_happened_then(real: World) -> None:
    september = await call(
        real, "remember", content="We decided to paint the barn green.", event_at="2025-09-03"
    )
    october = await call(
        real, "remember", content="We decided to close the cafe on Mondays.", event_at="2025-10-12"
    )
    question = "what did we decide in October 2025"
    found: Memories = await call(real, "query_memory", query=question)
    assert found.results[0].id == october.id
    assert "as_of 2025-10-31; what was written then, since 2025-10-01" in (found.note or "")
    found = await call(real, "query_memory", query="what did we decide in September?")
    assert found.results[0].id == september.id
    found = await call(real, "query_memory", query=question, until="2026-03-01")
    assert "as_of" not in (found.note or "")


@pytest.mark.parametrize("layer", ["working", "session", "semantic"])
async def test_what_happened_at_another_time_is_no_answer_of_its_time(
    world: World, layer: str
) -> None:
    then = await call(
        world, "remember", content="The choir sang a motet.", layer=layer, event_at="2025-10-12"
    )
    await world.remember(ANA, "The choir sang a psalm.", layer=layer)
    caller = caller_keys(ANA)
    october = (datetime(2025, 10, 1, tzinfo=UTC), datetime(2025, 10, 31, tzinfo=UTC))
    question = Question(
        "choir", Mode.KEYWORD, caller, ANA.person, 10, term_ids("choir"),
        entry_filter=EntryFilter(happened=october),
    )  # fmt: skip
    (found,) = [
        await each.search(question) for each in world.memory.query.layers if each.layer == layer
    ]
    assert [each.id for each in found.found] == [then.id]


async def test_what_the_model_cannot_read_is_found_by_its_words_alone(real: World) -> None:
    meeting = await real.remember(ANA, "会議は月曜日です。")
    await real.remember(ANA, "私は東京に住んでいます。")
    await real.remember(ANA, "Я живу в Москве.")
    found: Memories = await call(real, "query_memory", query="会議はいつですか")
    assert [each.id for each in found.results] == [meeting.id]
    assert "reads English alone" in (found.note or "")
