from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Unpack

import pytest
from sqlalchemy import text

from gateway.observability import audit as module
from gateway.observability.audit import AuditLog
from gateway.observability.audit_reader import Where
from gateway.observability.audit_record import BATCH_RECORDS, AuditRecord
from gateway.services.database.service import OwnedDatabase, open_database

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def record(**changes: Any) -> AuditRecord:
    usual = AuditRecord(
        at=NOON,
        request_id="r-1",
        person=None,
        tier="open",
        item="knowledge/search_knowledge",
        kind="tool",
        surface="mcp",
        outcome="ok",
        milliseconds=1.5,
        bytes_out=120,
    )
    return usual._replace(**changes)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while True:
            if condition():
                return
            await asyncio.sleep(0.01)


async def test_what_is_written_is_read_back_newest_first(database: OwnedDatabase) -> None:
    log = AuditLog(database, retention=None)
    records = [record(at=NOON + timedelta(minutes=n), request_id=f"r-{n}") for n in range(3)]
    async with log.running():
        for each in records:
            log.write(each)
    assert await log.read() == records[::-1]
    assert await log.read(limit=1) == records[-1:]


async def test_reading_filters_by_all_that_is_given(database: OwnedDatabase) -> None:
    log = AuditLog(database, retention=None)
    async with log.running():
        log.write(record(request_id="a"))
        log.write(record(request_id="b", person="token:ci", tier="members"))
        log.write(record(request_id="c", person="token:ci", tier="members", outcome="not_found"))
        log.write(record(request_id="d", item="knowledge/get_document"))
        log.write(record(request_id="e", at=NOON - timedelta(days=1)))

    async def ids(**given: Unpack[Where]) -> set[str]:
        return {each.request_id for each in await log.read(given)}

    assert await ids(person="token:ci") == {"b", "c"}
    assert await ids(person="token:ci", outcome="ok") == {"b"}
    assert await ids(tier="members", outcome="not_found") == {"c"}
    assert await ids(item="knowledge/get_document") == {"d"}
    assert await ids(since=NOON) == {"a", "b", "c", "d"}
    assert await ids(person="' OR 1=1 --") == set()


async def test_a_full_batch_is_written_without_waiting_for_the_interval(
    database: OwnedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WRITE_INTERVAL_SECONDS", 600.0)
    log = AuditLog(database, retention=None)
    async with log.running():
        await asyncio.sleep(0)
        for _ in range(BATCH_RECORDS):
            log.write(record())
        await until(lambda: log.waiting == 0)
    assert len(await log.read(limit=1000)) == BATCH_RECORDS


async def test_what_waits_is_written_after_the_interval(database: OwnedDatabase) -> None:
    log = AuditLog(database, retention=None)
    async with log.running():
        log.write(record())
        await until(lambda: log.waiting == 0)
        assert len(await log.read()) == 1


async def test_records_outlive_a_broken_database_and_are_written_once(
    database: OwnedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WRITE_INTERVAL_SECONDS", 0.01)
    log = AuditLog(database, retention=None)
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE porch_audit RENAME TO away"))
    async with log.running():
        for number in range(BATCH_RECORDS + 10):
            log.write(record(request_id=str(number)))
        await until(lambda: bool(log.notices()))
        assert f"{BATCH_RECORDS + 10} wait in memory" in log.notices()[0]
        async with database.begin() as connection:
            await connection.execute(text("ALTER TABLE away RENAME TO porch_audit"))
        await until(lambda: log.waiting == 0)
        await until(lambda: not log.notices())
    found = [each.request_id for each in await log.read(limit=2000)]
    assert found == [str(number) for number in reversed(range(BATCH_RECORDS + 10))]


async def test_closing_gives_up_on_a_database_that_stays_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CLOSE_TIMEOUT_SECONDS", 0.1)
    service = open_database("sqlite", tmp_path)
    log = AuditLog(service.for_owner("gateway"))
    async with log.running():
        log.write(record())
        await until(lambda: bool(log.notices()))
    assert log.waiting == 1
    assert "cannot be written (OperationalError)" in log.notices()[0]
    await service.close()


async def test_a_full_queue_drops_and_says_so(tmp_path: Path) -> None:
    log = AuditLog(open_database("sqlite", tmp_path).for_owner("gateway"), capacity=3)
    for _ in range(5):
        log.write(record())
    assert (log.waiting, log.dropped) == (3, 2)
    assert log.notices() == [
        "2 audit records were dropped since the start, because the database could not take "
        "them in time."
    ]


async def test_names_that_no_database_takes_are_cleaned(database: OwnedDatabase) -> None:
    log = AuditLog(database, retention=None)
    async with log.running():
        log.write(record(item="a\0b\ud800c" + "x" * 100_000))
    (found,) = await log.read()
    assert found.item.startswith("a?b?cx")
    assert len(found.item) == 200


async def test_old_records_are_purged_at_the_start(
    database: OwnedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PURGE_BATCH_ROWS", 2)
    now = datetime.now(UTC)
    log = AuditLog(database, retention=None)
    async with log.running():
        for days in (0, 1, 29, 31, 32, 33, 34, 400):
            log.write(record(at=now - timedelta(days=days), request_id=str(days)))
    kept = AuditLog(database, retention=timedelta(days=30))
    async with kept.running(), asyncio.timeout(60):
        while True:
            found = [each.request_id for each in await kept.read()]
            if len(found) <= 3:
                break
            await asyncio.sleep(0.01)
    assert found == ["0", "1", "29"]


async def test_a_time_keeps_its_moment_across_time_zones(database: OwnedDatabase) -> None:
    log = AuditLog(database, retention=None)
    eastern = datetime.fromisoformat("2026-03-01T07:00:00-05:00")
    async with log.running():
        log.write(record(at=eastern))
    (found,) = await log.read({"since": NOON})
    assert found.at == eastern
    assert found.at.tzinfo is UTC
