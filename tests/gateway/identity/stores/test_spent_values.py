"""What may be used once, and the notes of revocations, on each database."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from sqlalchemy import delete

from auth.stores import Stores
from gateway.identity.stores.tables import revocations
from tests.gateway.identity.stores.conftest import NOON, Clock, Replica


async def test_a_key_is_spent_once_until_its_time(stores: Stores, clock: Clock) -> None:
    until = NOON + timedelta(minutes=10)
    assert await stores.spent.spend("nonce", until)
    assert not await stores.spent.spend("nonce", until)
    assert await stores.spent.spend("another\0\ud800" + "x" * 100_000, until)
    clock.pass_(minutes=10)
    assert await stores.spent.spend("nonce", until + timedelta(minutes=10))
    assert not await stores.spent.spend("nonce", until + timedelta(minutes=10))


async def test_a_key_is_spent_once_by_many_at_once_on_two_replicas(
    replica: Replica, other: Replica, clock: Clock
) -> None:
    both = [replica.stores.spent, other.stores.spent] * 20
    for _ in range(2):  # the second time it has been spent before, and ended
        until = clock.time + timedelta(minutes=10)
        assert sum(await asyncio.gather(*(each.spend("nonce", until) for each in both))) == 1
        clock.pass_(minutes=11)


async def test_notes_are_read_in_order_after_a_number(stores: Stores) -> None:
    assert await stores.revocations.latest() == 0
    await stores.revocations.append(["person:a", "grant:b"])
    first = await stores.revocations.latest()
    await stores.revocations.append([])
    await stores.revocations.append(["token:c"])
    assert [tag for _, tag in await stores.revocations.since(0)] == [
        "person:a",
        "grant:b",
        "token:c",
    ]
    (after,) = await stores.revocations.since(first)
    assert after == (await stores.revocations.latest(), "token:c")


async def test_a_number_is_never_given_again(replica: Replica) -> None:
    notes = replica.stores.revocations
    await notes.append(["person:a"])
    number = await notes.latest()
    async with replica.database.begin() as connection:
        await connection.execute(delete(revocations))
    await notes.append(["person:b"])
    assert [tag for _, tag in await notes.since(number)] == ["person:b"]


async def test_no_reader_misses_a_note_of_writers_at_once_on_two_replicas(
    replica: Replica, other: Replica
) -> None:
    writers = (replica.stores.revocations, other.stores.revocations)
    wanted = {f"person:{number}" for number in range(60)}
    seen: list[str] = []
    read_to = 0

    async def read() -> None:
        nonlocal read_to
        while len(seen) < len(wanted):
            for number, tag in await other.stores.revocations.since(read_to):
                read_to = number
                seen.append(tag)

    async with asyncio.timeout(60):
        await asyncio.gather(
            read(), *(writers[n % 2].append([tag]) for n, tag in enumerate(sorted(wanted)))
        )
    assert set(seen) == wanted


async def test_a_note_that_is_being_written_holds_later_ones_back(
    replica: Replica, other: Replica
) -> None:

    from gateway.toolkit.sql import exclusive, lock_number

    async with replica.database.begin() as connection:
        await exclusive(connection, lock_number("", "porch_revocations"))
        await connection.execute(revocations.insert().values(subject="person:slow", at=NOON))
        quick = asyncio.create_task(other.stores.revocations.append(["person:quick"]))
        await asyncio.wait([quick], timeout=0.2)
        assert not quick.done()
        assert await other.stores.revocations.since(0) == []
    await quick
    assert [tag for _, tag in await other.stores.revocations.since(0)] == [
        "person:slow",
        "person:quick",
    ]
