"""Many transactions as one: all of them or none, and each can be undone alone."""

import asyncio

import pytest
import sqlalchemy as sa

from plugins.knowledge.memory.store.audit import AuditLog, AuditRecord
from plugins.knowledge.memory.store.tables import batches
from plugins.knowledge.memory.store.unit_of_work import UnitOfWork
from tests.plugins.knowledge.memory.conftest import NOON, World

pytestmark = pytest.mark.anyio


def row(id: str) -> dict[str, object]:
    counts = dict.fromkeys(("total", "done", "succeeded", "failed", "pending"), 0)
    flags = {"goes_on": False, "notifies": False}
    named = {"person": "p", "acting": {}, "operation": "create", "status": "pending"}
    return {"id": id, "sent": NOON, **counts, **flags, **named}


async def write(database: UnitOfWork, id: str, fails: bool = False) -> None:
    async with database.begin() as connection:
        await connection.execute(sa.insert(batches), [row(id)])
        if fails:
            raise ZeroDivisionError


async def ids(database: UnitOfWork) -> list[str]:
    async with database.read() as connection:
        return list(await connection.scalars(sa.select(batches.c.id).order_by(batches.c.id)))


async def test_what_is_done_inside_is_seen_there_and_committed_with_the_whole(
    world: World,
) -> None:
    unit_of_work = UnitOfWork(world.host.database)
    async with unit_of_work.transaction():
        await write(unit_of_work, "a")
        await write(unit_of_work, "b")
        assert await ids(unit_of_work) == ["a", "b"]
        assert await ids(UnitOfWork(world.host.database)) == []
    assert await ids(unit_of_work) == ["a", "b"]


async def test_a_part_that_fails_is_undone_alone(world: World) -> None:
    unit_of_work = UnitOfWork(world.host.database)
    async with unit_of_work.transaction():
        await write(unit_of_work, "a")
        with pytest.raises(ZeroDivisionError):
            await write(unit_of_work, "b", fails=True)
        await write(unit_of_work, "c")
    assert await ids(unit_of_work) == ["a", "c"]


async def test_of_a_whole_that_fails_nothing_stays(world: World) -> None:
    unit_of_work = UnitOfWork(world.host.database)
    with pytest.raises(ZeroDivisionError):
        async with unit_of_work.transaction():
            await write(unit_of_work, "a")
            raise ZeroDivisionError
    assert await ids(unit_of_work) == []
    await write(unit_of_work, "b")
    assert await ids(unit_of_work) == ["b"]


async def test_other_tasks_have_transactions_of_their_own(world: World) -> None:
    unit_of_work = UnitOfWork(world.host.database)
    begun, end = asyncio.Event(), asyncio.Event()

    async def whole() -> None:
        async with unit_of_work.transaction():
            await write(unit_of_work, "whole")
            begun.set()
            await end.wait()
            raise ZeroDivisionError

    task = asyncio.create_task(whole())
    await begun.wait()
    assert await ids(unit_of_work) == []
    other = asyncio.create_task(
        AuditLog(unit_of_work, world.clock).add(AuditRecord("p", "x", "e", "done"))
    )
    end.set()
    with pytest.raises(ZeroDivisionError):
        await task
    await other
    assert await ids(unit_of_work) == []
    assert len(await AuditLog(unit_of_work, world.clock).of("e")) >= 1
