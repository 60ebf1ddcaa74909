"""Revocations between two replicas that follow the notes of one database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import delete, insert

from auth.account_service import AccountService
from auth.revocations import Revocations
from gateway.identity.stores.tables import revocations
from tests.gateway.identity.stores.conftest import ALICE, NOON, OCTO, Replica


@asynccontextmanager
async def following(replica: Replica) -> AsyncIterator[Revocations]:
    """A replica's revocations, begun and followed."""
    revocations = Revocations(replica.stores.revocations)
    await revocations.begin()
    task = asyncio.create_task(revocations.follow(0.01))
    yield revocations
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_what_one_replica_changes_the_other_looks_up_again(
    replica: Replica, other: Replica
) -> None:
    async with following(replica) as here, following(other) as there:
        accounts = AccountService(replica.stores, here)
        alice = (await accounts.sign_in(ALICE)).id
        octo = (await accounts.sign_in(OCTO)).id
        before = there.now()
        assert there.holds([alice, octo], before)
        await accounts.delete(alice)
        assert not here.holds([alice], before)
        async with asyncio.timeout(60):
            while True:
                if not there.holds([alice], before):
                    break
                await asyncio.sleep(0.01)
        assert there.holds([octo], before)
        assert await other.stores.people.get(alice) is None


async def test_many_revocations_at_once_on_both_reach_both(
    replica: Replica, other: Replica
) -> None:
    async with following(replica) as here, following(other) as there:
        before = (here.now(), there.now())
        tags = [f"person:{number}" for number in range(40)]
        await asyncio.gather(*((here, there)[n % 2].revoke(tag) for n, tag in enumerate(tags)))
        async with asyncio.timeout(60):
            while True:
                held = [
                    here.holds([tag], before[0]) or there.holds([tag], before[1]) for tag in tags
                ]
                if not any(held):
                    break
                await asyncio.sleep(0.01)
        assert here.holds(["person:other"], before[0])
        assert there.holds(["person:other"], before[1])


async def test_after_a_backup_was_put_back_revocations_are_heard_of_still(
    replica: Replica, other: Replica
) -> None:
    there = Revocations(other.stores.revocations)
    await there.begin()
    await replica.stores.revocations.append([f"person:{number}" for number in range(20)])
    await there.look()
    await note_alone(replica, 3, "person:from the backup")
    before = there.now()
    await there.look()
    assert not there.holds(["person:x"], before)  # what was changed back is not known
    since = there.now()
    assert there.holds(["person:x"], since)
    await note_alone(replica, 4, "person:x")
    await there.look()
    assert not there.holds(["person:x"], since)
    assert there.holds(["person:y"], since)


async def note_alone(replica: Replica, number: int, subject: str) -> None:
    """Leave one note of that number and no other."""
    async with replica.database.begin() as connection:
        await connection.execute(delete(revocations))
        row = {"number": number, "subject": subject, "at": NOON}
        await connection.execute(insert(revocations).values(row))
