"""Both databases do the same, each in its own way."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from gateway.services.database.service import OwnedDatabase, open_database
from gateway.toolkit.columns import NUMBER, PLAIN
from gateway.toolkit.sql import (
    among,
    among_parameter,
    batches,
    exclusive,
    insert_into,
    lock_number,
)

metadata = sa.MetaData()
herbs = sa.Table(
    f"toolkit_herbs_{os.getpid()}",  # tests run in several processes on one PostgreSQL
    metadata,
    sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
    sa.Column("name", PLAIN, nullable=False),
)
ROWS = [{"number": 1, "name": "sage"}, {"number": 2, "name": "mint"}, {"number": 3, "name": "rue"}]


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OwnedDatabase]:
    postgres = request.param == "postgresql"
    address = request.getfixturevalue("postgres_url") if postgres else "sqlite"
    service = open_database(address, tmp_path)
    made = service.for_owner("toolkit")
    async with made.begin() as connection:
        await connection.run_sync(metadata.drop_all)
        await connection.run_sync(metadata.create_all)
        await connection.execute(sa.insert(herbs), ROWS)
    yield made
    async with made.begin() as connection:
        await connection.run_sync(metadata.drop_all)
    await service.close()


async def names(database: OwnedDatabase) -> dict[int, str]:
    async with database.read() as connection:
        return {row.number: row.name for row in await connection.execute(sa.select(herbs))}


async def test_many_values_are_one_parameter(database: OwnedDatabase) -> None:
    wanted = [2, 3, *range(10, 50_000)]
    async with database.read() as connection:
        numbers = sa.select(herbs.c.name).where(among(herbs.c.number, wanted))
        assert set(await connection.scalars(numbers)) == {"mint", "rue"}
        texts = sa.select(herbs.c.number).where(among(herbs.c.name, ["sage", "o'x"]))
        assert list(await connection.scalars(texts)) == [1]
        nothing = sa.select(herbs.c.number).where(among(herbs.c.name, []))
        assert list(await connection.scalars(nothing)) == []


async def test_what_is_none_of_many_values_is_asked_for_too(database: OwnedDatabase) -> None:
    async with database.read() as connection:
        others = sa.select(herbs.c.name).where(~among(herbs.c.number, [1, 2]), herbs.c.number > 0)
        assert list(await connection.scalars(others)) == ["rue"]


async def test_many_values_are_looked_up_and_not_compared_with_each_row(tmp_path: Path) -> None:
    service = open_database("sqlite", tmp_path)
    made = service.for_owner("toolkit")
    async with made.begin() as connection:
        await connection.run_sync(metadata.create_all)
        chosen = sa.select(herbs.c.name).where(among(herbs.c.number, [1, 2]))
        said = str(chosen.compile(dialect=connection.dialect))
        plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {said}", ("[1, 2]",))
        steps = [row.detail for row in plan]
    await service.close()
    assert any(step.startswith(f"SEARCH {herbs.name} USING INTEGER PRIMARY KEY") for step in steps)


async def test_a_statement_that_is_built_once_takes_other_values_each_time(
    database: OwnedDatabase,
) -> None:
    async with database.read() as connection:
        some = among_parameter(herbs.c.number, "some")
        query = sa.select(herbs.c.name).where(some).order_by(herbs.c.name)
        for values, found in ([1, 2], ["mint", "sage"]), ([3], ["rue"]), ([], []):
            assert list(await connection.scalars(query, {"some": values})) == found


async def test_what_is_there_is_left_alone_or_replaced(database: OwnedDatabase) -> None:
    async with database.begin() as connection:
        new = insert_into(connection, herbs).values(number=1, name="dill")
        await connection.execute(new.on_conflict_do_nothing())
    assert (await names(database))[1] == "sage"
    async with database.begin() as connection:
        new = insert_into(connection, herbs).values(number=1, name="dill")
        replaced = new.on_conflict_do_update(
            index_elements=[herbs.c.number], set_={"name": new.excluded.name}
        )
        await connection.execute(replaced)
    assert (await names(database))[1] == "dill"


async def test_who_waits_for_a_lock_sees_what_was_committed_under_it(
    database: OwnedDatabase,
) -> None:
    lock = lock_number("toolkit", "counting")

    async def count_up() -> None:
        async with database.begin() as connection:
            await exclusive(connection, lock)
            most = await connection.scalar(sa.select(sa.func.max(herbs.c.number)))
            await connection.execute(sa.insert(herbs).values(number=(most or 0) + 1, name="new"))

    await asyncio.gather(*(count_up() for _ in range(8)))
    assert len(await names(database)) == len(ROWS) + 8


async def test_a_shared_lock_is_held_by_several_at_once(postgres_url: str, tmp_path: Path) -> None:
    service = open_database(postgres_url, tmp_path)
    one, other = service.for_owner("toolkit"), service.for_owner("toolkit")
    lock = lock_number("toolkit", "reading")
    async with asyncio.timeout(60), one.begin() as first, other.begin() as second:
        await exclusive(first, lock, shared=True)
        await exclusive(second, lock, shared=True)
        held = sa.select(sa.func.pg_try_advisory_xact_lock(lock))
        async with service.for_owner("toolkit").begin() as third:
            assert not await third.scalar(held)
    await service.close()


def test_a_lock_keeps_its_number() -> None:
    """Replicas of two versions must exclude each other during an upgrade."""
    assert lock_number("", "porch_revocations") == -4280944142543251566
    assert lock_number("codegraph", "a") == -3544625356180218031
    assert lock_number("codegraph", "a") != lock_number("playbook", "a")


@given(st.lists(st.integers(), max_size=50), st.integers(1, 9))
def test_batches_are_all_of_it_in_order(values: list[int], size: int) -> None:
    parts = batches(values, size)
    assert [each for part in parts for each in part] == values
    assert all(len(part) == size for part in parts[:-1])
    assert all(parts)
