"""SQLite's connections: one message for each statement, and what SQLAlchemy needs of a cursor."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from gateway.services.database.service import DatabaseService, open_database
from gateway.services.database.sqlite_driver import Connection, connect, gone

NOTES = "SELECT id, title FROM notes ORDER BY id"


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[DatabaseService]:
    """A database with notes in it."""
    service = open_database("sqlite", tmp_path / "data")
    async with service.begin() as connection:
        await connection.execute(text("CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT)"))
    yield service
    await service.close()


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with every message to a connection's thread."""
    sent: list[str] = []
    real: Callable[..., Any] = Connection._execute

    async def counted(self: Connection, work: Any, *values: Any, **more: Any) -> Any:
        sent.append(work.__name__)
        return await real(self, work, *values, **more)

    monkeypatch.setattr(Connection, "_execute", counted)
    return sent


async def _write(service: DatabaseService, *titles: str) -> None:
    async with service.begin() as connection:
        rows = [{"title": title} for title in titles]
        await connection.execute(text("INSERT INTO notes (title) VALUES (:title)"), rows)


async def test_a_query_is_one_message_and_a_transaction_two_more(
    service: DatabaseService, messages: list[str]
) -> None:
    await _write(service, "one", "two")
    messages.clear()
    async with service.read() as connection:
        assert (await connection.execute(text(NOTES))).all() == [(1, "one"), (2, "two")]
    assert len(messages) == 1
    messages.clear()
    async with service.engine.connect() as connection:
        assert (await connection.execute(text(NOTES))).all() == [(1, "one"), (2, "two")]
    assert len(messages) == 3
    assert messages[-1] == "rollback"


async def test_rows_are_counted_and_streamed(service: DatabaseService) -> None:
    await _write(service, *(str(number) for number in range(250)))
    async with service.begin() as connection:
        changed = await connection.execute(text("UPDATE notes SET title = 'x' WHERE id > 50"))
        assert changed.rowcount == 200
        returned = await connection.execute(text("DELETE FROM notes WHERE id > 99 RETURNING id"))
        assert len(returned.all()) == 151
    async with service.engine.connect() as connection:
        found = await connection.stream(text(NOTES))
        assert (await found.fetchone())[0] == 1  # type: ignore[index]
        assert [row[0] for row in await found.fetchmany(3)] == [2, 3, 4]
        assert len(await found.all()) == 95


async def test_a_statement_that_fails_leaves_nothing_behind(service: DatabaseService) -> None:
    await _write(service, "one")
    for opened in (service.begin, service.engine.connect):
        with pytest.raises(IntegrityError):
            async with opened() as connection:
                await connection.execute(text("UPDATE notes SET title = 'changed'"))
                await connection.execute(text("INSERT INTO notes VALUES (1, 'again')"))
    async with service.read() as connection:
        assert (await connection.execute(text(NOTES))).all() == [(1, "one")]
    await _write(service, "two")


async def test_a_write_whose_task_is_cancelled_is_rolled_back(service: DatabaseService) -> None:
    slow = text(
        "INSERT INTO notes (title) WITH RECURSIVE n(x) AS "
        "(SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300000) SELECT x FROM n"
    )

    async def write() -> None:
        async with service.begin() as connection:
            await connection.execute(slow)

    for _ in range(5):
        task = asyncio.create_task(write())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await _write(service, "kept")
    async with service.read() as connection:
        titles = await connection.scalars(text("SELECT title FROM notes"))
        assert titles.all() == ["kept"]


async def test_closing_waits_for_a_connection_whose_task_was_cancelled(
    service: DatabaseService, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(threading.enumerate())
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(*args: Any, **more: Any) -> sqlite3.Connection:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(60)
        return sqlite3.Connection(":memory:")

    monkeypatch.setattr("gateway.services.database.sqlite_driver.sqlite3.connect", slow)
    await service.engine.dispose()
    connecting = asyncio.create_task(service.engine.connect().start())
    await begun.wait()
    connecting.cancel()
    with suppress(asyncio.CancelledError):
        await connecting
    assert {each for each in threading.enumerate() if "connection" in each.name} - before
    loop.call_later(0.05, go_on.set)
    await service.close()
    assert not {each for each in threading.enumerate() if "connection" in each.name} - before


async def test_who_closes_a_connection_that_another_gives_up_does_not_wait_for_ever(
    tmp_path: Path,
) -> None:
    connection = await connect(tmp_path / "x.db")
    begun, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def busy(_: sqlite3.Connection) -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(60)

    working = asyncio.create_task(connection.run(busy))
    await begun.wait()
    closing = asyncio.create_task(connection.close())
    await asyncio.sleep(0)
    connection.stop()  # as a task does that is cancelled twice
    closing.cancel()
    await asyncio.sleep(0)
    go_on.set()
    await working
    async with asyncio.timeout(60):
        await asyncio.wait({closing})
    assert closing.cancelled()
    await gone()
