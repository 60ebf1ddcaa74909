"""Entries move to the layer that they belong in, and show nobody more than before."""

import pytest

from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.model.requests import UpdateRequest
from plugins.knowledge.memory.rights.approval_rules import ApprovalRules
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, Opener, World
from tests.plugins.knowledge.memory.upkeep.conftest import points, upkeep
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder

pytestmark = pytest.mark.anyio
SURE = {"importance": 1.0, "confidence": 1.0}


async def layer(world: World, id: str) -> Layer:
    return (await world.memory.reader.entry(id, ANA)).layer


async def test_what_is_important_and_sure_climbs_a_step_a_pass_and_is_found_by_meaning(
    world: World,
) -> None:
    entry = await world.remember(ANA, "The well is dry.", layer="session", **SURE)
    assert await upkeep(world, minutes=10) == {"promoted": 1, "filled": 1}
    assert await layer(world, entry.id) is Layer.EPISODIC
    assert await upkeep(world, minutes=10) == {"promoted": 1}
    record = await world.memory.reader.entry(entry.id, ANA)
    assert (record.layer, record.version, record.expires) == (Layer.SEMANTIC, 3, None)
    assert record.placed > record.changed
    asked = {"types": ["semantic"]}
    assert await world.found(ANA, "dry well", mode="semantic", layer=asked) == ["The well is dry."]
    history = await world.memory.reader.history(entry.id, ANA)
    assert [each.by for each in history] == ["upkeep", "upkeep", "person:ana"]
    audit_records = [each.operation for each in await world.memory.entries.audit.of(entry.id)]
    assert audit_records == ["promote", "promote", "create"]
    assert await upkeep(world, minutes=10) == {}


async def test_what_is_used_often_climbs_and_what_is_not_stays(world: World) -> None:
    used = await world.remember(ANA, "Blue paint is in the attic.", layer="episodic")
    left = await world.remember(ANA, "Red brushes too.", layer="episodic")
    for _ in range(10):
        await world.memory.reader.entry(used.id, ANA)
    assert await upkeep(world, days=6) == {"promoted": 1}
    assert await layer(world, used.id) is Layer.SEMANTIC
    assert await layer(world, left.id) is Layer.EPISODIC


async def test_a_session_lasts_a_day_without_use(world: World) -> None:
    used = await world.remember(ANA, "Still needed.", layer="session")
    left = await world.remember(ANA, "Not any more.", layer="session")
    await upkeep(world, hours=20)
    await world.memory.reader.entry(used.id, ANA)
    assert await upkeep(world, hours=20) == {"expired": 1}
    assert await layer(world, used.id) is Layer.SESSION
    with pytest.raises(MemoryFailed):
        await world.memory.reader.entry(left.id, ANA)


async def test_what_nobody_uses_for_ninety_days_is_put_away_unless_it_is_worth_much(
    world: World,
) -> None:
    little = await world.remember(ANA, "The kettle was loud.", importance=0.2, confidence=0.3)
    much = await world.remember(ANA, "The kettle is Ben's.", importance=0.9, confidence=0.8)
    assert await upkeep(world, days=89) == {"events": 1}
    assert (await upkeep(world, days=2))["archived"] == 1
    assert await layer(world, little.id) is Layer.ARCHIVAL
    assert await layer(world, much.id) is Layer.SEMANTIC
    assert await world.found(ANA, "loud kettle") == ["The kettle is Ben's."]
    for mode in ("semantic", "keyword"):
        asked = {"types": ["archival"]}
        found = await world.found(ANA, "loud kettle", mode=mode, layer=asked)
        assert found == ["The kettle was loud."]
    assert await points(world) == [
        ("memory", much.id, 1),
        ("memory_archive", little.id, 2),
    ]


async def test_nothing_moves_by_itself_where_people_decide_what_comes_in(
    open_world: Opener,
) -> None:
    rules = ApprovalRules(layers=(Layer.SEMANTIC,))
    world = await open_world(WordEmbedder(), approval=rules)
    entry = await world.remember(ANA, "The well is dry.", layer="episodic", **SURE)
    assert await upkeep(world, days=7) == {}
    assert await layer(world, entry.id) is Layer.EPISODIC


async def test_nothing_moves_while_a_request_about_it_waits(world: World) -> None:
    entry = await world.remember(ANA, "Open at nine.", "organization", "episodic", **SURE)
    changed = {"entry": {"content": "Open at ten."}, "governance": {"require_approval": True}}
    asked = UpdateRequest.model_validate(changed)
    made = await world.memory.governed.update(entry.id, asked, ANA)
    assert made.approval_required is not None
    assert await upkeep(world, days=1) == {}
    await world.memory.approvals.decide(made.approval_required.request_id, CY, approve=True)
    assert await upkeep(world) == {"promoted": 1}


async def test_a_scratch_pad_climbs_and_stays_its_owners_alone(world: World) -> None:
    entry = await world.remember(ANA, "The draft is done.", "public", "working", **SURE)
    await world.remember(ANA, "The draft is long.", "public", "working")
    await world.memory.upkeep.promote_working()
    record = await world.memory.reader.entry(entry.id, ANA)
    assert (record.layer, record.version) == (Layer.SESSION, 2)
    assert [one.content for one in world.memory.entries.working.everything()] == [
        "The draft is long."
    ]
    await upkeep(world, minutes=10)
    await upkeep(world, minutes=10)
    assert await layer(world, entry.id) is Layer.SEMANTIC
    assert await world.found(ANA, "draft done")
    assert await world.found(BEN, "draft") == []
    with pytest.raises(MemoryFailed):
        await world.memory.reader.entry(entry.id, BEN)


async def test_what_leaves_a_session_is_private_until_its_owner_says_otherwise(
    world: World,
) -> None:
    entry = await world.remember(ANA, "The draft is done.", "public", "session", **SURE)
    await upkeep(world, minutes=10)
    assert await world.found(BEN, "draft") == []
    opened = {"entry": {"content": "The draft is done.", "access_policy": "public"}}
    await world.keep(entry.id, UpdateRequest.model_validate(opened), ANA)
    assert await world.found(BEN, "draft") == ["The draft is done."]


async def test_a_scratch_pad_that_cannot_be_written_is_not_lost(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = await world.remember(ANA, "The draft is done.", layer="working", **SURE)

    async def breaks(*_: object) -> None:
        raise ConnectionError("the database is gone")

    with monkeypatch.context() as broken:
        broken.setattr("plugins.knowledge.memory.store.writes._insert_events", breaks)
        await world.memory.upkeep.promote_working()
    assert await layer(world, entry.id) is Layer.WORKING
    await world.memory.upkeep.promote_working()
    assert await layer(world, entry.id) is Layer.SESSION


async def test_what_deserves_it_is_promoted_when_the_portal_stops(open_world: Opener) -> None:
    world = await open_world(WordEmbedder())
    entry = await world.remember(ANA, "The draft is done.", layer="working", **SURE)
    again = await open_world(WordEmbedder())
    assert await layer(again, entry.id) is Layer.SESSION
