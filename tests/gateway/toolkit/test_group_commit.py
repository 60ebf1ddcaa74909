"""Writes share transactions where many come at once, and none suffers from another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.services.database.service import OwnedDatabase, open_database
from gateway.toolkit.group_commit import MAX_TOGETHER, GroupCommit

herbs = sa.Table("herbs", sa.MetaData(), sa.Column("number", sa.Integer, primary_key=True))


class Counted:
    """A database that counts its transactions, and can be away."""

    def __init__(self, database: OwnedDatabase) -> None:
        self._database = database
        self.begun = 0
        self.away = False

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction."""
        self.begun += 1
        if self.away:
            await asyncio.sleep(0.01)
            raise ConnectionError("away")
        async with self._database.begin() as connection:
            yield connection


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Counted]:
    service = open_database("sqlite", tmp_path)
    owned = service.for_owner("herbs")
    async with owned.begin() as connection:
        await connection.run_sync(herbs.create)
    yield Counted(owned)
    await service.close()


def planted(number: int) -> Any:
    async def write(connection: AsyncConnection) -> int:
        await connection.execute(herbs.insert(), {"number": number})
        return number

    return write


async def kept(database: Counted) -> list[int]:
    async with database.begin() as connection:
        return list(await connection.scalars(sa.select(herbs.c.number).order_by(herbs.c.number)))


async def test_each_write_returns_its_own_value_and_is_committed_then(database: Counted) -> None:
    together = GroupCommit(database.begin)

    async def one(number: int) -> bool:
        assert await together.run(planted(number)) == number
        return number in await kept(database)

    assert all(await asyncio.gather(*map(one, range(20))))


async def test_what_comes_while_a_transaction_runs_shares_the_next_one(database: Counted) -> None:
    together = GroupCommit(database.begin)
    await asyncio.gather(*(together.run(planted(each)) for each in range(50)))
    assert database.begun == 2
    assert await kept(database) == list(range(50))


async def test_a_transaction_stays_short(database: Counted) -> None:
    together = GroupCommit(database.begin)
    wanted = range(MAX_TOGETHER * 2 + 1)
    await asyncio.gather(*(together.run(planted(each)) for each in wanted))
    assert database.begun == 3
    assert await kept(database) == list(wanted)


async def test_a_write_that_fails_takes_no_other_with_it(database: Counted) -> None:
    together = GroupCommit(database.begin)
    numbers = [0, 1, 2, 2, 3]
    found = await asyncio.gather(
        *(together.run(planted(each)) for each in numbers), return_exceptions=True
    )
    assert [isinstance(each, sa.exc.IntegrityError) for each in found] == [
        *(False, False, False, True, False)
    ]
    assert await kept(database) == [0, 1, 2, 3]


async def test_where_the_database_is_away_everyone_hears_it_at_once(database: Counted) -> None:
    together = GroupCommit(database.begin)
    database.away = True
    found = await asyncio.gather(
        *(together.run(planted(each)) for each in range(9)), return_exceptions=True
    )
    assert all(isinstance(each, ConnectionError) for each in found)
    assert database.begun == 2
    database.away = False
    assert await together.run(planted(1)) == 1


async def test_a_write_that_was_given_up_before_it_began_is_not_written(database: Counted) -> None:
    together = GroupCommit(database.begin)
    first, *others = [asyncio.create_task(together.run(planted(each))) for each in range(4)]
    await asyncio.sleep(0)
    others[1].cancel()
    await asyncio.wait([first, *others])
    assert others[1].cancelled()
    assert await kept(database) == [0, 1, 3]


async def test_one_that_is_given_up_while_it_writes_holds_up_nobody(database: Counted) -> None:
    together, began = GroupCommit(database.begin), asyncio.Event()

    async def endless(connection: AsyncConnection) -> None:
        began.set()
        await asyncio.Event().wait()

    first = asyncio.create_task(together.run(endless))
    await began.wait()
    second = asyncio.create_task(together.run(planted(1)))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 1
    assert await kept(database) == [1]
