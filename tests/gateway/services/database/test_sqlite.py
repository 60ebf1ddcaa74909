"""SQLite under many writers: they queue in this process, and nobody else waits for them."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.services.database import sqlite
from gateway.services.database.service import DatabaseService, open_database

WRITERS = 60
HELD = 0.04
"""Seconds for which each writer holds its transaction."""


@pytest.fixture
async def service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[DatabaseService]:
    """A database whose writers would soon be tired of waiting inside SQLite."""
    patience = tuple(
        "PRAGMA busy_timeout=300" if "busy" in each else each for each in sqlite._PRAGMAS
    )
    monkeypatch.setattr(sqlite, "_PRAGMAS", patience)
    service = await _with_notes(tmp_path)
    yield service
    await service.close()


async def _with_notes(directory: Path) -> DatabaseService:
    service = open_database("sqlite", directory / "data")
    async with service.begin() as connection:
        await connection.execute(text("CREATE TABLE notes (id INTEGER PRIMARY KEY, n INTEGER)"))
    return service


async def _write(service: DatabaseService, number: int, held: float = 0) -> None:
    async with service.begin() as connection:
        await connection.execute(text("INSERT INTO notes (n) VALUES (:n)"), {"n": number})
        await asyncio.sleep(held)


async def _written(service: DatabaseService) -> list[int]:
    async with service.engine.connect() as connection:
        return list((await connection.execute(text("SELECT n FROM notes ORDER BY id"))).scalars())


async def test_sixty_writers_have_their_turns_in_order_and_readers_wait_for_none_of_them(
    service: DatabaseService,
) -> None:
    seen = [0]
    writing = asyncio.gather(*(_write(service, each, HELD) for each in range(WRITERS)))
    while not writing.done():
        seen.append(len(await _written(service)))
        await asyncio.sleep(0.01)
    await writing
    assert await _written(service) == list(range(WRITERS))
    assert seen == sorted(seen)
    assert len(set(seen)) > 3, "the readers saw the rows come in"
    async with service.begin() as connection:
        await connection.execute(text("DELETE FROM notes"))
        assert len(await _written(service)) == WRITERS, "while somebody writes"


async def test_a_writer_that_is_cancelled_gives_its_turn_to_the_next(
    service: DatabaseService,
) -> None:
    holding = asyncio.create_task(_write(service, 1, held=60))
    waiting = asyncio.create_task(_write(service, 2))
    last = asyncio.create_task(_write(service, 3))
    await asyncio.sleep(0.05)
    waiting.cancel()
    holding.cancel()
    await asyncio.wait_for(last, 60)
    assert await _written(service) == [3]


async def test_a_transaction_that_fails_gives_its_turn_to_the_next(
    service: DatabaseService,
) -> None:
    async def fail() -> None:
        async with service.begin():
            raise ValueError("midway")

    failed, _ = await asyncio.gather(fail(), _write(service, 1), return_exceptions=True)
    assert isinstance(failed, ValueError)
    assert await _written(service) == [1]


async def test_a_transaction_inside_another_one_is_an_error_rather_than_a_wait_without_end(
    service: DatabaseService,
) -> None:
    async with service.begin() as connection:
        with pytest.raises(RuntimeError, match="Pass its connection on"):
            await _write(service, 1)
        await connection.execute(text("INSERT INTO notes (n) VALUES (2)"))
    await _write(service, 3)
    assert await _written(service) == [2, 3]


def test_one_loop_may_follow_another(tmp_path: Path) -> None:
    service = asyncio.run(_with_notes(tmp_path))

    async def crowd() -> int:
        await asyncio.gather(*(_write(service, each) for each in range(5)))
        written = len(await _written(service))
        await service.engine.dispose()
        return written

    assert [asyncio.run(crowd()), asyncio.run(crowd())] == [5, 10]
    assert len(service._writers._queues) == 1


HOLD = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("INSERT INTO notes (n) VALUES (1)")
print("held", flush=True)
time.sleep(0.5)
connection.execute("COMMIT")
"""


async def test_a_writer_of_another_process_is_waited_for(tmp_path: Path) -> None:
    service = await _with_notes(tmp_path)
    command = [sys.executable, "-c", HOLD, str(tmp_path / "data" / "porch.db")]
    other = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert other.stdout is not None
    assert await other.stdout.readline() == b"held\n"
    await _write(service, 2)
    assert await other.wait() == 0
    assert await _written(service) == [1, 2]
    await service.close()
