from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from gateway.observability import audit_reader as module
from gateway.observability.audit import AuditLog
from gateway.observability.audit_reader import AuditReader, Where
from gateway.observability.audit_record import AuditRecord
from gateway.observability.audit_table import audit
from gateway.services.database.service import OwnedDatabase
from gateway.toolkit.background import cancel
from tests.gateway.observability.test_audit import NOON, record, until


async def write(database: OwnedDatabase, *records: AuditRecord) -> None:
    log = AuditLog(database, retention=None)
    async with log.running():
        for each in records:
            log.write(each)


async def test_calls_are_summed_by_tool_and_by_person(database: OwnedDatabase) -> None:
    await write(
        database,
        record(person="person:a", item="k/search", milliseconds=10.0, bytes_out=100),
        record(person="person:a", item="k/read", outcome="not_allowed", at=NOON + timedelta(1)),
        record(person=None, item="k/search", milliseconds=30.0, bytes_out=50),
    )
    reader = AuditReader(database)
    search, read = await reader.totals("item", {}, 10)
    assert (search.name, search.calls, search.failed) == ("k/search", 2, 0)
    assert (search.milliseconds, search.bytes_out, search.last) == (40.0, 150, NOON)
    assert (read.name, read.calls, read.failed) == ("k/read", 1, 1)
    people = await reader.totals("person", {}, 10)
    assert {each.name: each.calls for each in people} == {"person:a": 2, None: 1}
    assert [each.name for each in await reader.totals("item", {"person": "person:a"}, 10)] == [
        "k/read",
        "k/search",
    ]
    assert len(await reader.totals("item", {}, 1)) == 1


async def test_an_end_leaves_out_what_began_at_it_or_later(database: OwnedDatabase) -> None:
    hours = [record(at=NOON + timedelta(hours=n), request_id=str(n)) for n in range(4)]
    await write(database, *hours)
    where: Where = {"since": NOON + timedelta(hours=1), "until": NOON + timedelta(hours=3)}
    found = await AuditReader(database).newest(where, 10)
    assert [each.request_id for each in found] == ["2", "1"]


def looks_of(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each look of a reader found, as it goes on."""
    found: list[int] = []
    look = AuditReader._rows

    async def noted(reader: AuditReader, query: Any) -> Any:
        rows = await look(reader, query)
        found.append(len(rows))
        return rows

    monkeypatch.setattr(AuditReader, "_rows", noted)
    return found


async def test_what_comes_in_is_followed_in_order_and_once(
    database: OwnedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FOLLOW_INTERVAL_SECONDS", 0.01)
    await write(database, record(request_id="before"))
    shown: list[str] = []

    looks = looks_of(monkeypatch)

    async def follow() -> None:
        async for records in AuditReader(database).follow({"tier": "open"}):
            shown.extend(each.request_id for each in records)

    following = asyncio.create_task(follow())
    try:
        await until(lambda: len(looks) > 2)  # it knows what was there before
        await write(database, record(request_id="1"), record(request_id="2", tier="members"))
        await until(lambda: shown == ["1"])
        await write(database, record(request_id="3"))
        await until(lambda: len(shown) > 1)
        await asyncio.sleep(0.1)
    finally:
        await cancel(following)
    assert shown == ["1", "3"]


async def test_a_record_that_another_replica_commits_late_is_followed_too(
    database: OwnedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FOLLOW_INTERVAL_SECONDS", 0.01)
    shown: list[str] = []

    looks = looks_of(monkeypatch)

    async def follow() -> None:
        async for records in AuditReader(database).follow({}):
            shown.extend(each.request_id for each in records)

    async def stored(number: int) -> None:
        async with database.begin() as connection:
            values = record(request_id=str(number))._asdict() | {"id": number}
            await connection.execute(audit.insert(), [values])

    await stored(100)
    following = asyncio.create_task(follow())
    try:
        await until(lambda: len(looks) > 1)  # it knows what was there before
        await stored(102)
        await until(lambda: shown == ["102"])
        await stored(101)
        await until(lambda: len(shown) > 1)
    finally:
        await cancel(following)
    assert shown == ["102", "101"]


async def test_pages_follow_each_other_without_a_gap_and_nothing_twice(
    database: OwnedDatabase,
) -> None:
    # Several begin at the same moment, also where one page ends and the next begins.
    several = [record(at=NOON + timedelta(hours=n // 3), request_id=f"{n}") for n in range(10)]
    await write(database, *several)
    reader, found, after = AuditReader(database), list[str](), None
    for _ in range(4):
        records, after = await reader.page({}, 3, after)
        found += [each.request_id for each in records]
    assert found == [f"{n}" for n in reversed(range(10))]
    assert after is None


async def test_records_are_told_apart_by_plugin_by_failure_and_by_nobody(
    database: OwnedDatabase,
) -> None:
    await write(
        database,
        record(request_id="a", item="k/search", person="person:a"),
        record(request_id="b", item="k", outcome="failed"),
        record(request_id="c", item="kelp/search", outcome="not_allowed"),
    )

    async def ids(where: Where) -> set[str]:
        records, _ = await AuditReader(database).page(where, 10)
        return {each.request_id for each in records}

    assert await ids({"plugin": "k"}) == {"a", "b"}
    assert await ids({"plugin": "%"}) == set()
    assert await ids({"failed": True}) == {"b", "c"}
    assert await ids({"anonymous": True, "plugin": "kelp"}) == {"c"}
