from collections.abc import Awaitable
from typing import Any

import pytest

from gateway.contract import ANONYMOUS, Caller
from plugins.knowledge.memory.model.entry import KnowledgeMetadata, Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import CreateRequest, DeleteRequest, UpdateRequest
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, DEE, Opener, World
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder, document

pytestmark = pytest.mark.anyio
STORED = [layer for layer in Layer if layer is not Layer.WORKING]


def delete(id: str, *, hard: bool = False) -> DeleteRequest:
    return DeleteRequest.model_validate({"id": id, "options": {"hard_delete": hard}})


async def is_found(reads: Awaitable[Any]) -> bool:
    """Whether there was something to read; any other failure is one."""
    try:
        await reads
    except MemoryFailed as failure:
        if failure.number is not ErrorCode.NOT_FOUND:
            raise
        return False
    return True


@pytest.mark.parametrize("layer", Layer)
@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
async def test_what_is_remembered_is_found_again(world: World, layer: Layer, mode: str) -> None:
    await world.remember(ANA, "The greenhouse key hangs behind the door.", layer=layer)
    await world.remember(ANA, "Meetings begin at noon.", layer=layer)
    answer = await world.ask(
        ANA, "where is the greenhouse key", mode=mode, layer={"types": [layer]}
    )
    assert answer.results[0].entry.content == "The greenhouse key hangs behind the door."
    assert answer.metadata.layers_queried == [layer]
    assert answer.metadata.layers_contributed == [layer]
    assert 0 < answer.results[0].score <= 1


async def test_an_entry_is_kept_over_a_restart(open_world: Opener) -> None:
    first = await open_world(WordEmbedder())
    entry = await first.remember(ANA, "Seeds are in the blue box.")
    again = await open_world(WordEmbedder())
    assert await again.found(ANA, "blue box of seeds") == ["Seeds are in the blue box."]
    assert (await again.memory.reader.entry(entry.id, ANA)).content == entry.content


@pytest.mark.parametrize(
    ("policy", "readers"),
    [
        ("private", {"ana"}),
        ({"policy": "restricted", "approved_users": ["person:dee"]}, {"ana", "dee"}),
        ({"policy": "shared", "allowed_teams": ["garden"]}, {"ana", "ben"}),
        ("organization", {"ana", "cy"}),
        ("public", {"ana", "ben", "cy", "dee"}),
    ],
)
@pytest.mark.parametrize("layer", ["semantic", "episodic", "user", "organization"])
async def test_a_policy_decides_who_finds_an_entry_by_every_way_of_reading(
    world: World, policy: Any, readers: set[str], layer: str
) -> None:
    entry = await world.remember(ANA, "The compost is turned on Mondays.", policy, layer)
    for who in (ANA, BEN, CY, DEE):
        ways = [await world.found(who, "compost", mode=mode) for mode in ("keyword", "hybrid")]
        seen = {bool(way) for way in ways}
        for read in (
            world.memory.reader.entry,
            world.memory.reader.metadata,
            world.memory.reader.history,
        ):
            seen.add(await is_found(read(entry.id, who)))
        name = (who.name or "").lower()
        assert seen == {name in readers}, (who, policy)


async def test_who_is_not_signed_in_reads_nothing_and_is_told_to_sign_in(world: World) -> None:
    entry = await world.remember(ANA, "The compost is turned on Mondays.", "public")
    await world.base.put(document("pattern/cells", "A cell decides alone.", title="Cells"))
    look = world.memory.reader
    for reads in (
        world.ask(ANONYMOUS, "compost"),
        look.entry("note:pattern/cells", ANONYMOUS),
        look.metadata(entry.id, ANONYMOUS),
        look.history(entry.id, ANONYMOUS),
    ):
        with pytest.raises(MemoryFailed, match="Sign in") as refused:
            await reads
        assert refused.value.number is ErrorCode.UNAUTHORIZED


@pytest.mark.parametrize("layer", ["working", "session"])
async def test_a_scratch_pad_is_its_callers_alone_whatever_its_policy(
    world: World, layer: str
) -> None:
    entry = await world.remember(ANA, "The draft is half done.", "public", layer)
    assert await world.found(ANA, "draft")
    assert await world.found(BEN, "draft") == []
    reader = world.memory.reader
    for read in (reader.entry, reader.metadata, reader.history):
        assert await is_found(read(entry.id, ANA))
        assert not await is_found(read(entry.id, BEN))


@pytest.mark.parametrize("layer", ["working", "session"])
async def test_an_agent_finds_its_own_notes(world: World, layer: str) -> None:
    await world.remember(ANA, "Plan of the first agent.", layer=layer, agent="one")
    await world.remember(ANA, "Plan of the second agent.", layer=layer, agent="two")
    asked = {"types": [layer], "agent_id": "two"}
    assert await world.found(ANA, "plan", layer=asked) == ["Plan of the second agent."]
    assert len(await world.found(ANA, "plan", layer={"types": [layer]})) == 2


async def test_a_query_of_several_layers_ranks_the_whole(world: World) -> None:
    await world.remember(ANA, "Tomatoes want warm soil and sun.", layer="working")
    await world.remember(ANA, "Tomatoes want warm soil.", layer="episodic")
    await world.remember(ANA, "Tomatoes want sun.", layer="semantic")
    answer = await world.ask(ANA, "tomatoes want warm soil and sun")
    scores = [result.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == answer.metadata.total_results == 3
    assert set(answer.metadata.layers_contributed) == {"working", "episodic", "semantic"}
    assert "archival" not in answer.metadata.layers_queried


async def test_the_notes_are_the_organizations_memory_and_are_read_only(world: World) -> None:
    await world.base.put(document("pattern/cells", "A cell decides alone.", title="Cells"))
    answer = await world.ask(BEN, "who decides in a cell")
    assert answer.results[0].entry.id == "note:pattern/cells"
    assert answer.results[0].entry.content == "A cell decides alone."
    with pytest.raises(MemoryFailed, match="changed in its source") as refused:
        await world.change(BEN, "note:pattern/cells", "Nobody decides.")
    assert refused.value.number is ErrorCode.FORBIDDEN


async def test_of_a_note_its_beginning_is_shown_and_never_the_whole(world: World) -> None:
    long = "A cell decides alone. " * 100
    await world.base.put(document("pattern/cells", long, title="Cells"))
    answer = await world.ask(ANA, "who decides in a cell")
    assert 0 < len(answer.results[0].entry.content) <= 500
    assert len((await world.memory.reader.entry("note:pattern/cells", ANA)).content) <= 500


@pytest.mark.parametrize("query", ["who \x90decides\x01 in a cell", "\x90"])
async def test_any_text_can_be_asked_of_every_layer(world: World, query: str) -> None:
    await world.base.put(document("pattern/cells", "A cell decides alone.", title="Cells"))
    answer = await world.ask(ANA, query)
    assert answer.metadata.layers_failed == {}
    assert bool(answer.results) == ("decides" in query)


async def test_filters_narrow_what_is_found(world: World) -> None:
    await world.remember(ANA, "Beans climb.", tags=["Plants"], author="Zoe", custom={"row": 1})
    await world.remember(ANA, "Beans dry.", tags=["kitchen"], custom={"row": [1, 2], "a": {"b": 1}})
    for filters, expected in [
        ({"tags": ["plants"]}, {"Beans climb."}),
        ({"tags": ["plants", "kitchen"]}, {"Beans climb.", "Beans dry."}),
        ({"author": "Zoe"}, {"Beans climb."}),
        ({"custom_filters": {"row": 1}}, {"Beans climb.", "Beans dry."}),
        ({"custom_filters": {"row": 2}}, {"Beans dry."}),
        ({"custom_filters": {"row": [2, 3]}}, {"Beans dry."}),
        ({"custom_filters": {"a": {"b": 1}}}, {"Beans dry."}),
        ({"custom_filters": {"row": "1"}}, set()),
        ({"source_type": "agent_generated"}, {"Beans climb.", "Beans dry."}),
        ({"source_type": "web_scrape"}, set()),
        ({"access_policy": "public"}, set()),
        ({"created_after": "2027-01-01T00:00:00Z"}, set()),
        ({"created_before": "2027-01-01T00:00:00Z"}, {"Beans climb.", "Beans dry."}),
    ]:
        for mode in ("keyword", "semantic", "hybrid"):
            assert set(await world.found(ANA, "beans", mode=mode, filters=filters)) == expected


@pytest.mark.parametrize("tag", ["caf\u00e9", "Cafe\u0301"])
async def test_a_tag_is_one_however_its_marks_are_encoded(world: World, tag: str) -> None:
    await world.remember(ANA, "Beans boil.", tags=["Cafe\u0301"])
    await world.remember(ANA, "Beans roast.", tags=["Caf\u00e9"])
    found = await world.found(ANA, "beans", filters={"tags": [tag]})
    assert set(found) == {"Beans boil.", "Beans roast."}


async def test_options_decide_what_results_carry(world: World) -> None:
    words = ["grow", "beside", "onions", "in", "sand"]
    for number in range(5):
        await world.remember(ANA, f"Carrots {' '.join(words[:number])}.", title=f"Bed {number}")
    page = await world.ask(ANA, "carrots", options={"limit": 2, "offset": 2})
    assert len(page.results) == 2
    assert page.metadata.total_results == 5
    given = {"include_content": False, "include_embeddings": True}
    bare = await world.ask(ANA, "carrots", options=given)
    assert bare.results[0].entry.content == ""
    assert len(bare.results[0].entry.embedding or ()) == 64
    first = bare.results[0]
    assert first.distance is not None
    nearest = min(each.distance or 2 for each in bare.results)
    near = await world.ask(ANA, "carrots", options={"distance_threshold": nearest})
    assert near.metadata.total_results < 5
    squared = await world.ask(ANA, "carrots", options={"distance_metric": "euclidean"})
    assert squared.results[0].distance == pytest.approx((2 * first.distance) ** 0.5, abs=1e-3)
    assert first.highlight is not None
    assert "**Carrots**" in first.highlight.content[0]


async def test_a_portal_without_a_model_answers_by_words(open_world: Opener) -> None:
    world = await open_world()
    await world.remember(ANA, "Leeks stand the frost.")
    assert await world.found(ANA, "frost", mode="semantic") == ["Leeks stand the frost."]
    request = CreateRequest.model_validate(
        {"entry": {"content": "x"}, "options": {"generate_embedding": True}}
    )
    with pytest.raises(MemoryFailed, match="no embedding model"):
        await world.memory.entries.create(request, ANA)


async def test_an_update_is_a_new_version_and_the_old_one_is_kept(world: World) -> None:
    entry = await world.remember(ANA, "The gate code is 1.", tags=["gate"])
    changed = await world.change(ANA, entry.id, "The gate code is 2.")
    assert (changed.version, changed.metadata.tags) == (2, ("gate",))
    assert await world.found(ANA, "gate code") == ["The gate code is 2."]
    history = await world.memory.reader.history(entry.id, ANA)
    assert [each.number for each in history] == [2, 1]
    assert [each.fields["content"] for each in history if each.fields] == [
        "The gate code is 2.",
        "The gate code is 1.",
    ]
    said = await world.memory.reader.metadata(entry.id, ANA)
    assert [each.created_by for each in said.version_history or ()] == ["person:ana"] * 2


async def test_changes_of_one_version_are_merged_where_they_do_not_touch(world: World) -> None:
    shared = {"policy": "shared", "allowed_teams": ["garden"]}
    entry = await world.remember(ANA, "first\nmiddle\nlast\n", shared)
    await world.change(ANA, entry.id, "FIRST\nmiddle\nlast\n", version=1)
    merged = await world.change(BEN, entry.id, "first\nmiddle\nLAST\n", version=1)
    assert (merged.content, merged.version) == ("FIRST\nmiddle\nLAST\n", 3)
    with pytest.raises(MemoryFailed, match="content") as conflict:
        await world.change(BEN, entry.id, "first of all\nmiddle\nlast\n", version=1)
    assert conflict.value.number is ErrorCode.CONFLICT
    assert conflict.value.details == {"version": 3, "fields": ["content"]}


@pytest.mark.parametrize("who", [BEN, CY, DEE])
async def test_others_change_and_remove_nothing_that_they_may_only_read(
    world: World, who: Caller
) -> None:
    entry = await world.remember(ANA, "Prune in March.", "public")
    with pytest.raises(MemoryFailed) as changed:
        await world.change(who, entry.id, "Prune in May.")
    with pytest.raises(MemoryFailed) as removed:
        await world.memory.entries.delete(delete(entry.id), who)
    assert changed.value.number is removed.value.number is ErrorCode.FORBIDDEN


async def test_who_may_write_an_entry_may_not_say_who_reads_it(world: World) -> None:
    entry = await world.remember(ANA, "Shed.", {"policy": "shared", "allowed_teams": ["garden"]})
    with pytest.raises(MemoryFailed, match="who reads"):
        await world.change(BEN, entry.id, "Shed.", access_policy="public")


async def test_a_removed_entry_is_found_by_nobody(world: World) -> None:
    entry = await world.remember(ANA, "Old hose.", "public")
    assert (await world.memory.entries.delete(delete(entry.id), ANA)).deleted
    for mode in ("keyword", "semantic", "hybrid"):
        assert await world.found(ANA, "old hose", mode=mode) == []
    with pytest.raises(MemoryFailed) as gone:
        await world.memory.reader.entry(entry.id, ANA)
    assert gone.value.number is ErrorCode.NOT_FOUND


async def test_a_hard_removal_leaves_no_content_anywhere_but_ids_in_the_audit(
    world: World, address: str
) -> None:
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import metadata

    entry = await world.remember(ANA, "Quincunx planting secret.", title="Quincunx")
    await world.change(ANA, entry.id, "Quincunx planting, again.")
    await world.memory.entries.delete(delete(entry.id, hard=True), ANA)
    kept = []
    async with world.host.database.read() as connection:
        for table in metadata.sorted_tables:
            kept += [str(row) for row in await connection.execute(sa.select(table))]
        vectors = sa.text("SELECT document FROM knowledge_embeddings")
        kept += [str(row) for row in await connection.execute(vectors)]
    assert not [row for row in kept if "uincunx" in row]
    audit_records = await world.memory.entries.audit.of(entry.id)
    assert [each.operation for each in audit_records] == ["erase", "update", "create"]


async def test_the_audit_log_can_only_be_added_to(world: World) -> None:
    import sqlalchemy as sa

    await world.remember(ANA, "Anything.")
    for change in ("UPDATE memory_audit SET person = 'x'", "DELETE FROM memory_audit"):
        with pytest.raises(sa.exc.DBAPIError, match="only added to"):
            async with world.host.database.begin() as connection:
                await connection.execute(sa.text(change))


@pytest.mark.parametrize(
    ("entry", "number", "told"),
    [
        ({"content": "x" * 300_000}, ErrorCode.INVALID_REQUEST, "300,000 bytes"),
        ({"content": " \n\u200b\u3164 "}, ErrorCode.INVALID_REQUEST, "blank"),
        ({"content": "x", "embedding": [1.0, 2.0]}, ErrorCode.EMBEDDING_FAILED, "2 numbers"),
        ({"content": "x", "embedding": [0.0] * 64}, ErrorCode.EMBEDDING_FAILED, "direction"),
        ({"content": "x", "embedding": ["nan"] * 64}, ErrorCode.EMBEDDING_FAILED, "direction"),
        ({"content": "\ud800"}, ErrorCode.INVALID_REQUEST, "Unicode"),
        (
            {"content": "x", "metadata": KnowledgeMetadata(custom={"rows": [*range(20_000)]})},
            ErrorCode.INVALID_REQUEST,
            "65,536",
        ),
    ],
)
async def test_what_cannot_be_kept_is_refused_and_nothing_is_written(
    world: World, entry: dict[str, Any], number: ErrorCode, told: str
) -> None:
    request = CreateRequest.model_construct(
        entry=CreateRequest.model_validate({"entry": {"content": "y"}}).entry.model_copy(
            update={**entry, "embedding": tuple(map(float, entry.get("embedding", ()))) or None}
        )
    )
    with pytest.raises(MemoryFailed, match=told) as refused:
        await world.memory.entries.create(request, ANA)
    assert refused.value.number is number
    assert await world.found(ANA, "x") == []


async def test_a_clients_own_vector_is_used(world: World) -> None:
    vector = [0.0] * 63 + [2.0]
    request = {"entry": {"content": "Opaque.", "embedding": vector}}
    created = await world.memory.entries.create(CreateRequest.model_validate(request), ANA)
    answer = await world.ask(ANA, "opaque", options={"include_embeddings": True})
    assert answer.results[0].entry.id == created.entry.id
    assert answer.results[0].entry.embedding == pytest.approx([0.0] * 63 + [1.0])


async def test_without_signing_in_nothing_is_written(world: World) -> None:
    request = CreateRequest.model_validate({"entry": {"content": "x"}})
    with pytest.raises(MemoryFailed, match="Sign in") as refused:
        await world.memory.entries.create(request, ANONYMOUS)
    assert refused.value.number is ErrorCode.UNAUTHORIZED


async def test_uses_are_counted(world: World) -> None:
    entry = await world.remember(ANA, "Rain barrel.")
    await world.ask(ANA, "rain barrel")
    await world.memory.reader.entry(entry.id, ANA)
    await world.memory.usage.flush()
    assert (await world.memory.reader.entry(entry.id, ANA)).uses == 2


async def test_an_update_without_versions_keeps_who_wrote_alone(world: World) -> None:
    request = {"entry": {"content": "One."}, "options": {"version": False}}
    created = await world.memory.entries.create(CreateRequest.model_validate(request), ANA)
    await world.change(ANA, created.entry.id, "Two.")
    history = await world.memory.reader.history(created.entry.id, ANA)
    assert [(each.number, each.fields) for each in history] == [(2, None), (1, None)]
    stale = UpdateRequest.model_validate({"entry": {"content": "Three.", "version": 1}})
    with pytest.raises(MemoryFailed, match="not kept"):
        await world.memory.entries.update(created.entry.id, stale, ANA)
