"""PostgreSQL cut off or silent: who waits is told, nobody else waits, and it comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.contract import is_outage
from gateway.contract.backend_errors import DatabaseAway, is_database_away
from gateway.services.database import guard as guard_module
from gateway.services.database.service import DatabaseService, open_database
from gateway.toolkit.sql import exclusive
from tests.servers.cable import Cable, cabled

Fault = Callable[[Cable], None]
FAULTS = [pytest.param(Cable.cut, id="cut"), pytest.param(Cable.freeze, id="silent")]


@pytest.fixture
def line(postgres: str) -> Iterator[Cable]:
    with cabled(postgres) as cable:
        yield cable


@pytest.fixture
async def database(line: Cable, tmp_path: Path) -> AsyncIterator[DatabaseService]:
    service = open_database(line.url, tmp_path)
    await one(service)
    service.watch()
    yield service
    line.join()
    line.thaw()
    await service.close()


async def one(database: DatabaseService) -> int:
    async with database.engine.connect() as connection:
        found: int = await connection.scalar(text("SELECT 1"))
    return found


async def until_known(database: DatabaseService, *, away: bool) -> None:
    guard = database._guard
    assert guard is not None
    async with asyncio.timeout(60):
        while guard.breaker.is_open != away:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("fault", FAULTS)
async def test_who_waits_for_an_answer_gets_an_error_and_nobody_waits_after_that(
    database: DatabaseService, line: Cable, fault: Fault
) -> None:
    async with database.engine.connect() as connection:
        fault(line)
        with pytest.raises(Exception) as raised:  # noqa: PT011  (the driver's, whichever it is)
            await connection.scalar(text("SELECT pg_sleep(60)"))
        assert is_outage(raised.value)
        assert is_database_away(raised.value)
    await until_known(database, away=True)
    with pytest.raises(DatabaseAway):
        database.check()
    for opened in (database.engine.connect, database.begin, database.read):
        with pytest.raises(DatabaseAway):
            async with opened():
                pass


@pytest.mark.parametrize("fault", FAULTS)
async def test_it_is_used_again_when_it_answers_again(
    database: DatabaseService, line: Cable, fault: Fault
) -> None:
    fault(line)
    await until_known(database, away=True)
    line.join()
    line.thaw()
    await until_known(database, away=False)
    database.check()
    assert await one(database) == 1


async def test_a_refused_connection_is_seen_at_once_without_anybody_watching(
    tmp_path: Path, free_tcp_port: int
) -> None:
    service = open_database(f"postgresql://somebody:secret@127.0.0.1:{free_tcp_port}/x", tmp_path)
    with pytest.raises(DatabaseAway) as raised:
        await one(service)
    assert "secret" not in str(raised.value)
    with pytest.raises(DatabaseAway):
        service.check()
    await service.close()


async def test_a_loop_that_stood_is_no_outage(database: DatabaseService) -> None:
    import time

    guard = database._guard
    assert guard is not None
    for _ in range(3):
        await asyncio.sleep(0.9)
        time.sleep(2.4)  # noqa: ASYNC251
    assert not guard.breaker.is_open
    assert await one(database) == 1


async def test_a_connection_that_ends_while_it_is_asked_ends_no_watch(
    database: DatabaseService, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncpg

    guard = database._guard
    assert guard is not None
    asked, ask = 0, guard._ask

    async def ends_first() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:  # as asyncpg says it
            raise asyncpg.InternalClientError("cannot switch to state 12")
        await ask()

    monkeypatch.setattr(guard, "_ask", ends_first)
    async with asyncio.timeout(60):
        while asked < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert not guard.breaker.is_open
    assert await one(database) == 1


async def test_a_wrong_statement_is_no_outage(database: DatabaseService) -> None:
    with pytest.raises(Exception, match="does not exist") as raised:
        async with database.engine.connect() as connection:
            await connection.execute(text("SELECT * FROM nothing"))
    assert not is_database_away(raised.value)
    database.check()


async def test_sqlite_has_no_guard(tmp_path: Path) -> None:
    service = open_database("sqlite", tmp_path)
    service.watch()
    assert await one(service) == 1
    service.check()
    await service.close()


async def test_who_stands_still_in_a_transaction_loses_its_locks(
    database: DatabaseService, tmp_path: Path, line: Cable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard_module, "IDLE_TRANSACTION_SECONDS", 0.3)
    paused = open_database(line.url, tmp_path)
    try:
        with pytest.raises(Exception) as raised:  # noqa: PT011  (the driver's, whichever it is)
            async with paused.begin() as silent:
                await exclusive(silent, 4711)
                async with asyncio.timeout(60), database.begin() as other:
                    await exclusive(other, 4711)
                await silent.execute(text("SELECT 1"))
        assert is_outage(raised.value)
        assert await one(paused) == 1, "its next connection is as good as any"
    finally:
        await paused.close()
