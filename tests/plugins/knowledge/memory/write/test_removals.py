"""What is removed: who may, what is erased that was forgotten before, and what holds again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from gateway.contract import Caller
from gateway.pipeline.exchange import SilentExchange
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import DeleteRequest
from plugins.knowledge.memory.model.responses import DeleteResponse
from plugins.knowledge.memory.rights.approval_rules import ApprovalRules
from plugins.knowledge.memory.store.tables import metadata
from plugins.knowledge.memory.tools.entries import tools
from plugins.knowledge.memory.tools.recall import recall_tools
from tests.plugins.knowledge.memory.conftest import ANA, BEN, Opener, World
from tests.plugins.knowledge.memory.query.test_standing import SHARED, relate

pytestmark = pytest.mark.anyio


async def forget(world: World, id: str, who: Caller = ANA, *, hard: bool = False) -> DeleteResponse:
    request = DeleteRequest.model_validate({"id": id, "options": {"hard_delete": hard}})
    return await world.memory.governed.delete(request, who)


async def tables_with(world: World, word: str) -> set[str]:
    found = set()
    async with world.host.database.read() as connection:
        for table in metadata.sorted_tables:
            rows = await connection.execute(sa.select(table))
            found |= {table.name for row in rows if word in str(row)}
    return found


async def test_what_was_forgotten_is_erased_by_its_owner(world: World) -> None:
    entry = await world.remember(ANA, "The axolotl eats at noon.")
    await forget(world, entry.id)
    assert "memory_entries" in await tables_with(world, "axolotl")
    assert (await forget(world, entry.id, hard=True)).deleted
    assert await tables_with(world, "axolotl") == set()
    (last, *_) = await world.memory.entries.audit.of(entry.id)
    assert (last.person, last.operation, last.outcome) == ("person:ana", "erase", "done")


@pytest.mark.parametrize("who", [BEN, replace(BEN, admin=True)])
async def test_what_was_forgotten_is_there_for_nobody_else(world: World, who: Caller) -> None:
    entry = await world.remember(ANA, "The axolotl eats at noon.", SHARED)
    await forget(world, entry.id)
    for hard in (False, True):
        with pytest.raises(MemoryFailed) as refused:
            await forget(world, entry.id, who, hard=hard)
        assert refused.value.number is ErrorCode.NOT_FOUND
    with pytest.raises(MemoryFailed, match="no such entry"):
        await forget(world, entry.id)


async def test_what_takes_a_yes_to_be_erased_is_not_erased_by_forgetting_it_first(
    open_world: Opener,
) -> None:
    world = await open_world(approval=ApprovalRules(hard_deletes=True))
    entry = await world.remember(ANA, "The axolotl eats at noon.", SHARED)
    await forget(world, entry.id)
    with pytest.raises(MemoryFailed, match="30 days after") as refused:
        await forget(world, entry.id, hard=True)
    assert refused.value.number is ErrorCode.GOVERNANCE_DENIED


@pytest.mark.parametrize("hard", [False, True])
async def test_who_removes_what_ended_another_is_told_that_that_one_holds_again(
    world: World, hard: bool
) -> None:
    old = await world.remember(ANA, "The dentist is Dr Ito.")
    new = await world.remember(ANA, "The dentist is Dr Park.")
    await relate(world, new, "supersedes", old)
    told = await forget(world, new.id, hard=hard)
    assert f"It had ended {old.id}, which holds again now." in str(told.note)


async def test_nothing_is_said_to_hold_again_that_something_else_ends(world: World) -> None:
    first = await world.remember(ANA, "The dentist is Dr Ito.")
    second = await world.remember(ANA, "The dentist is Dr Park.")
    third = await world.remember(ANA, "The dentist is Dr Lund.")
    await relate(world, second, "supersedes", first)
    await relate(world, third, "supersedes", second)
    assert (await forget(world, second.id)).note is None


async def test_an_agent_reads_what_holds_again(world: World) -> None:
    old = await world.remember(ANA, "The dentist is Dr Ito.")
    new = await world.remember(ANA, "The dentist is Dr Park.")
    await relate(world, new, "supersedes", old)
    silent = replace(world.memory, exchange=SilentExchange)
    (tool,) = (each for each in tools(silent) if each.name == "forget")
    assert tool.args is not None
    told: Any = await tool.run(tool.args.model_validate({"id": new.id}), ANA)
    assert old.id in told.note


async def test_an_admin_with_a_token_is_told_what_it_takes_to_remove(world: World) -> None:
    entry = await world.remember(ANA, "The axolotl eats at noon.", SHARED)
    with pytest.raises(MemoryFailed, match="API token carries no admin's right"):
        await forget(world, entry.id, BEN)


async def test_a_group_that_is_gone_reads_nothing_and_the_owner_is_told(world: World) -> None:
    policy = {"policy": "shared", "allowed_teams": ["garden", "growers"]}
    entry = await world.remember(ANA, "The lawn is mowed by Theo.", policy)
    (tool,) = (each for each in recall_tools(world.memory) if each.name == "get_memory")
    assert tool.args is not None
    told: Any = await tool.run(tool.args.model_validate({"id": entry.id}), ANA)
    assert [(each.id, each.gone) for each in told.named] == [("garden", False), ("growers", True)]
