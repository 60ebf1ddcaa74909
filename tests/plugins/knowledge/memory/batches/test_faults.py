"""Stores go away, fill up and fail in the middle of a batch: nothing is lost, and none is twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.responses import BatchReport
from plugins.knowledge.memory.store import writes
from plugins.knowledge.memory.store.vectors import MemoryVectors
from tests.plugins.knowledge.memory.batches.conftest import Sender, draft, sender_on
from tests.plugins.knowledge.memory.conftest import ANA, Opener
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder

pytestmark = pytest.mark.anyio
SEEDS = [f"Seed {n} of beans." for n in range(60)]
Tell = Callable[..., Awaitable[Any]]


async def each_once(sender: Sender, report: BatchReport) -> None:
    """The batch is done, and every entry is there once, with all that goes with it."""
    assert (report.status, report.results.succeeded) == ("completed", len(SEEDS)), report.message
    assert sorted(row.content for row in await sender.rows("memory_entries")) == sorted(SEEDS)
    assert [row.version for row in await sender.rows("memory_versions")] == [1] * len(SEEDS)
    events = await sender.rows("memory_events")
    assert [row.kind for row in events] == ["created"] * len(SEEDS)
    assert [row.entry for row in events] == [each.id for each in report.entries]
    for mode in ("keyword", "semantic"):
        found = await sender.world.found(ANA, "beans", mode=mode, options={"limit": 100})
        assert sorted(found) == sorted(SEEDS)


@contextmanager
def failing(
    monkeypatch: pytest.MonkeyPatch, error: Exception, fails: Callable[[int, Any], bool]
) -> Iterator[None]:
    """Let the last statement of a write fail; ``fails(count, records)`` says which."""
    told: Tell = writes._insert_events
    count = 0

    async def breaks(connection: Any, kind: Any, records: Any, at: Any) -> Any:
        nonlocal count
        count += 1
        if fails(count, records):
            raise error
        return await told(connection, kind, records, at)

    with monkeypatch.context() as patched:
        patched.setattr(writes, "_insert_events", breaks)
        yield


async def test_a_store_that_comes_back_finds_the_batch_where_it_was(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(count: int, records: Any) -> bool:
        return count % 40 in (0, 1, 2)

    with failing(monkeypatch, ConnectionError("gone"), fails):
        report = await sender.send(ANA, "create", [draft(each) for each in SEEDS])
    await each_once(sender, report)


async def test_an_entry_that_breaks_something_is_one_error(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(count: int, records: Any) -> bool:
        return any(each.content == SEEDS[7] for each in records)

    entries = [draft(each) for each in SEEDS[:30]]
    with failing(monkeypatch, ZeroDivisionError("never say this"), fails):
        report = await sender.send(ANA, "create", entries, continue_on_error=True)
    assert (report.status, report.results.succeeded) == ("completed", 29)
    (error,) = report.results.errors
    assert (error.index, error.code) == (7, ErrorCode.BATCH_FAILED)
    assert "never say this" not in error.message
    kept = [row.content for row in await sender.rows("memory_entries")]
    assert sorted(kept) == sorted(set(SEEDS[:30]) - {SEEDS[7]})
    found = await sender.world.found(ANA, "seed beans", mode="semantic", options={"limit": 100})
    assert SEEDS[7] not in found


async def test_working_memory_is_as_it_was_where_the_rest_is_tried_again(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, asked = sender.world, {"layer": {"types": ["working"]}, "mode": "keyword"}
    gone = [(await world.remember(ANA, f"Old {n}.", layer="working")).id for n in range(2)]
    kept = await world.remember(ANA, "Lasting.")
    ids = (gone[0], kept.id)
    changed = [{"id": id, "entry": {"content": "New.", "version": 1}} for id in ids]
    options = {"options": {"layer": {"type": "working"}}}
    made = [{"id": "pad", **draft("Made.", **options)}, *changed]

    with failing(monkeypatch, ConnectionError("gone"), lambda count, records: count < 3):
        report = await sender.send(ANA, "upsert", made)
    assert [each.status for each in report.entries] == ["created", "updated", "updated"]
    assert sorted(await world.found(ANA, "old new made", **asked)) == ["Made.", "New.", "Old 1."]
    assert (await world.memory.reader.entry(gone[0], ANA)).version == 2
    removed = [{"id": gone[1]}, {"id": kept.id}]
    with failing(monkeypatch, ConnectionError("gone"), lambda count, records: count == 1):
        report = await sender.send(ANA, "delete", removed)
    assert [each.status for each in report.entries] == ["deleted", "deleted"]
    assert sorted(await world.found(ANA, "old new made", **asked)) == ["Made.", "New."]


async def test_two_who_take_up_a_batch_do_it_once(sender: Sender) -> None:
    id = await sender.submit(ANA, "create", [draft(each) for each in SEEDS])
    await asyncio.gather(*(sender.batches.work(id) for _ in range(3)))
    await each_once(sender, await sender.batches.report(id, ANA, 0, 100))


async def test_others_write_the_same_entries_while_a_batch_does(sender: Sender) -> None:
    world = sender.world
    ids = [(await world.remember(ANA, each)).id for each in SEEDS[:10]]
    entries = [{"id": id, "entry": {"content": f"{id} by batch"}} for id in ids] * 4
    id = await sender.submit(ANA, "update", entries, continue_on_error=True)

    async def singly() -> None:
        for each in (*reversed(ids), *ids):
            await world.change(ANA, each, f"{each} singly")

    await asyncio.gather(sender.batches.work(id), singly())
    report = await sender.batches.report(id, ANA, 0, 0)
    assert (report.results.succeeded, report.results.failed) == (40, 0)
    assert {row.version for row in await sender.rows("memory_entries")} == {7}
    versions = [(row.entry, row.version) for row in await sender.rows("memory_versions")]
    assert len(versions) == len(set(versions)) == 70


async def test_without_the_vector_store_a_batch_is_kept_and_found_by_its_words(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*_: Any) -> Any:
        raise ConnectionError("the vector store is gone")

    with monkeypatch.context() as patched:
        patched.setattr(MemoryVectors, "_collection", gone)
        report = await sender.send(ANA, "create", [draft(each) for each in SEEDS])
        found = await sender.world.found(ANA, "beans", mode="keyword", options={"limit": 100})
        assert sorted(found) == sorted(SEEDS)
    assert (report.status, report.results.succeeded) == ("completed", len(SEEDS))
    vectors = sender.world.memory.entries.vectors
    assert vectors is not None
    held = await sender.world.memory.entries.reads.read(
        [each.id for each in report.entries], frozenset({"person:person:ana"})
    )
    assert len(await vectors.kept.of(list(held.values()))) == len(SEEDS)


@dataclass
class Squeamish(WordEmbedder):
    """A model that cannot read some texts, and fails with all that it is given beside them."""

    unreadable: set[str] = field(default_factory=set)

    async def passages(self, texts: Any) -> Any:
        if self.unreadable & set(texts):
            raise ValueError("I cannot read this")
        return await super().passages(texts)


async def test_a_text_that_cannot_be_embedded_is_one_error(open_world: Opener) -> None:
    sender = sender_on(await open_world(Squeamish(unreadable={SEEDS[3]})))
    entries = [draft(each) for each in SEEDS[:9]]
    report = await sender.send(ANA, "create", entries, continue_on_error=True)
    assert [(each.index, each.code) for each in report.results.errors] == [(3, 1001)]
    assert report.results.succeeded == 8


async def test_a_batch_is_given_up_after_a_day_without_a_store(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = sender.world.clock

    def fails(count: int, records: Any) -> bool:
        if count <= 40:
            return False
        clock.time += timedelta(hours=9)
        return True

    entries = [draft(each) for each in SEEDS]
    with failing(monkeypatch, ConnectionError("gone"), fails):
        report = await sender.send(
            ANA, "create", entries, continue_on_error=True, notify_on_completion=True
        )
    assert (report.status, report.results.succeeded, report.results.failed) == ("failed", 25, 1)
    assert report.results.errors[0].code == ErrorCode.BATCH_FAILED
    assert len(await sender.rows("memory_entries")) == 25
    assert len(await sender.rows("memory_events", kind="batch_failed")) == 1


@dataclass
class Listener:
    """Hears what is logged.

    Attributes:
        heard: set once a batch waits.
    """

    heard: asyncio.Event = field(default_factory=asyncio.Event)

    def warning(self, event: str, **_: Any) -> None:
        assert event == "batch waits"
        self.heard.set()

    def error(self, event: str, **_: Any) -> None:
        assert event == "batch not kept"


@asynccontextmanager
async def full_disk(sender: Sender, room: int) -> AsyncGenerator[None]:
    """Let SQLite's file grow by no more than so many pages."""
    engine = sender.world.host.database.engine.sync_engine
    async with sender.world.host.database.read() as connection:
        pages = await connection.scalar(sa.text("PRAGMA page_count"))
    most = (pages or 0) + room

    def limited(connection: Any, *_: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA max_page_count={most}")
        cursor.close()

    sa.event.listen(engine, "checkout", limited)
    try:
        yield
    finally:
        most = 1_000_000


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
async def test_a_batch_goes_on_where_it_was_once_a_full_disk_has_room(sender: Sender) -> None:
    listener: Any = Listener()
    batches = replace(sender.batches, log=listener)
    id = await sender.submit(ANA, "create", [draft(each) for each in SEEDS])
    async with full_disk(sender, room=12):
        working = asyncio.create_task(batches.work(id))
        heard = asyncio.create_task(listener.heard.wait())
        await asyncio.wait({working, heard}, return_when=asyncio.FIRST_COMPLETED)
        assert not working.done()
        report = await batches.report(id, ANA, 0, 100)
        assert report.results.succeeded < len(SEEDS)
        assert len(await sender.rows("memory_entries")) == report.results.succeeded
    assert await working == "completed"
    await each_once(sender, await batches.report(id, ANA, 0, 100))


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
async def test_on_a_full_disk_no_batch_is_taken(sender: Sender) -> None:
    listener: Any = Listener()
    full = replace(sender, batches=replace(sender.batches, log=listener))
    async with full_disk(sender, room=0):
        with pytest.raises(MemoryFailed, match="nothing was written") as refused:
            await full.submit(ANA, "create", [draft(each * 100) for each in SEEDS])
    assert refused.value.number is ErrorCode.STORAGE_FAILED
    assert await sender.rows("memory_batches") == await sender.rows("memory_batch_entries") == []


async def test_a_batch_that_cannot_be_queued_is_not_kept(sender: Sender) -> None:
    class Away:
        async def enqueue(self, *_: Any, **__: Any) -> str:
            raise ConnectionError("the jobs' database is gone")

    queue: Any = Away()
    away = replace(sender, batches=replace(sender.batches, jobs=queue))
    with pytest.raises(MemoryFailed) as refused:
        await away.submit(ANA, "create", [draft("x")])
    assert refused.value.number is ErrorCode.STORAGE_FAILED
    assert await sender.rows("memory_batches") == []
