"""What is over is removed for good: rows, words, versions, events, requests and vectors."""

from datetime import timedelta

import pytest

from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.model.requests import DeleteRequest, UpdateRequest
from tests.plugins.knowledge.memory.conftest import ANA, CY, World
from tests.plugins.knowledge.memory.upkeep.conftest import named, points, rows, upkeep

pytestmark = pytest.mark.anyio


async def forget(world: World, id: str) -> None:
    await world.memory.entries.delete(DeleteRequest.model_validate({"id": id}), ANA)


async def test_a_session_that_is_over_leaves_nothing_but_its_id_in_the_audit_log(
    world: World,
) -> None:
    entry = await world.remember(ANA, "Quincunx.", layer="session", tags=["trees"])
    await world.change(ANA, entry.id, "Quincunx, again.")
    assert await upkeep(world, hours=25) == {"expired": 1}
    await world.remember(ANA, "Something later.")
    assert await upkeep(world, minutes=10) == {}
    assert await named(world, entry.id) == {"memory_audit"}
    assert await named(world, "uincunx") == set()
    assert len(await rows(world, "entries")) == 1
    assert {row.entry for row in await rows(world, "words")} == {
        row.entry for row in await rows(world, "labels")
    }


async def test_what_was_forgotten_is_removed_after_thirty_days(world: World) -> None:
    entry = await world.remember(ANA, "Quincunx.", "organization", title="Quincunx")
    changed = {"entry": {"content": "Quincunx!"}, "governance": {"require_approval": True}}
    await world.memory.governed.update(entry.id, UpdateRequest.model_validate(changed), ANA)
    await forget(world, entry.id)
    await upkeep(world, days=29)
    assert "memory_versions" in await named(world, entry.id)
    assert (await upkeep(world, days=2))["purged"] == 1
    assert await named(world, entry.id) == {"memory_audit"}
    assert await named(world, "uincunx") == set()
    assert await points(world) == []


async def test_events_are_kept_for_a_week_and_no_number_is_given_twice(world: World) -> None:
    for number in range(5):
        await world.remember(ANA, f"Entry {number}.")
    newest = max(row.number for row in await rows(world, "events"))
    assert await upkeep(world, days=6) == {}
    assert await upkeep(world, days=2) == {"events": 4}
    (left,) = await rows(world, "events")
    assert (left.number, left.entry, left.readers, left.body) == (newest, "", [], None)
    await world.remember(ANA, "One more.")
    assert max(row.number for row in await rows(world, "events")) > newest


async def test_the_number_of_the_last_event_outlives_its_entry(world: World) -> None:
    entry = await world.remember(ANA, "The last one.")
    await forget(world, entry.id)
    newest = max(row.number for row in await rows(world, "events"))
    await upkeep(world, days=31)
    (left,) = await rows(world, "events")
    assert (left.number, left.entry, left.readers, left.body) == (newest, "", [], None)


async def test_a_request_waits_for_thirty_days_and_is_kept_for_ninety_after_that(
    world: World,
) -> None:
    entry = await world.remember(ANA, "Open at nine.", "organization")
    changed = {"entry": {"content": "Open at ten."}, "governance": {"require_approval": True}}
    made = await world.memory.governed.update(entry.id, UpdateRequest.model_validate(changed), ANA)
    assert made.approval_required is not None
    id = made.approval_required.request_id
    assert "given_up" not in await upkeep(world, days=29)
    assert (await upkeep(world, days=2))["given_up"] == 1
    (own,) = await world.memory.approvals.visible_to(ANA)
    assert (own.state, own.payload) == ("failed", None)
    assert "Nobody decided" in (own.note or "")
    with pytest.raises(MemoryFailed):
        await world.memory.approvals.decide(id, CY, approve=True)
    assert "requests" not in await upkeep(world, days=89)
    assert (await upkeep(world, days=2))["requests"] == 1
    assert await named(world, id) == {"memory_audit"}


async def test_a_session_that_expires_while_it_is_being_looked_at_is_not_brought_back(
    world: World,
) -> None:
    entry = await world.remember(ANA, "Too late.", layer="session")
    await world.memory.reader.entry(entry.id, ANA)
    world.clock.time += timedelta(days=2)
    await world.memory.usage.flush()
    assert await upkeep(world) == {"expired": 1}
