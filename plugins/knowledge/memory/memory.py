"""Memory as tools and routes use it: one facade over its layers and operations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version

from gateway.contract import Exchange, Host, People
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.memory.agreement import ApprovalRules
from plugins.knowledge.memory.asking import AskedLayer, Shelf
from plugins.knowledge.memory.authors import Authors
from plugins.knowledge.memory.batches.batches import Batches
from plugins.knowledge.memory.batches.chunks import Chunks
from plugins.knowledge.memory.entries import Layer
from plugins.knowledge.memory.following import Following
from plugins.knowledge.memory.gathering import FailureLog
from plugins.knowledge.memory.governing import Governing
from plugins.knowledge.memory.keeping import Keeping
from plugins.knowledge.memory.layers.notes import NotesLayer
from plugins.knowledge.memory.layers.stored import StoredLayer
from plugins.knowledge.memory.layers.working import WorkingLayer
from plugins.knowledge.memory.leaving import Leaving
from plugins.knowledge.memory.listing import Lists
from plugins.knowledge.memory.looking import Looking
from plugins.knowledge.memory.names import Names
from plugins.knowledge.memory.querying import Querying
from plugins.knowledge.memory.responses import ProviderName
from plugins.knowledge.memory.roles import Roles
from plugins.knowledge.memory.store.approvals import Approvals
from plugins.knowledge.memory.store.audit import AuditLog
from plugins.knowledge.memory.store.batches import BatchStore
from plugins.knowledge.memory.store.inventory import Inventory
from plugins.knowledge.memory.store.notices import Notices
from plugins.knowledge.memory.store.reading import Reading
from plugins.knowledge.memory.store.together import Together
from plugins.knowledge.memory.store.writing import Writing
from plugins.knowledge.memory.streaming.hub import Hub
from plugins.knowledge.memory.streaming.log import EventLog
from plugins.knowledge.memory.streaming.streams import Streaming
from plugins.knowledge.memory.upkeep.opening import upkeep_over
from plugins.knowledge.memory.upkeep.upkeep import EVERY_TEN_MINUTES, Upkeep
from plugins.knowledge.memory.usage import Usage
from plugins.knowledge.memory.vectors import MemoryVectors


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Memory:
    """Everything that agents remember.

    Attributes:
        provider: who answers.
        query: the query operation.
        keep: the operations that write.
        govern: the same, where some of them wait for a person.
        batches: the same, many at once.
        look: the operations that read one entry.
        lists: lists entries.
        authors: finds who wrote what is shown.
        streaming: tells what happens while it happens.
        usage: counts answers and reads.
        upkeep: keeps all of it in order.
        leaving: hands people what is kept of them, and erases it.
        exchange: the call that is running now.
        people: whom callers may know of.
        following: lets this process's own vectors follow what others write; None where it need not.
    """

    provider: ProviderName
    query: Querying
    keep: Keeping
    govern: Governing
    batches: Batches
    look: Looking
    lists: Lists
    authors: Authors
    streaming: Streaming
    usage: Usage
    upkeep: Upkeep
    leaving: Leaving
    exchange: Callable[[], Exchange]
    people: People
    following: Following | None = None

    @classmethod
    @asynccontextmanager
    async def opened(
        cls,
        host: Host,
        knowledge: Knowledge,
        roles: Roles,
        clock: Callable[[], datetime] = _now,
        approval: ApprovalRules | None = None,
        upkeep: str = EVERY_TEN_MINUTES,
    ) -> AsyncGenerator[Memory]:
        """Open memory on a plugin's services, whose tables must be up to date.

        Args:
            host: the services.
            knowledge: the notes, which are a part of the organization's memory.
            roles: who may do what.
            clock: gives the time, with its zone; replaced in tests.
            approval: what a person has to allow; the default rules where none are given.
            upkeep: when it is kept in order, as a cron expression in UTC.
        """
        memory = _made(host, knowledge, roles, clock, approval or ApprovalRules(), upkeep)
        going = [memory.usage.run(), memory.upkeep.follow_pads()]
        if memory.following is not None:
            going.append(memory.following.run())
        running = [asyncio.create_task(each) for each in going]
        try:
            yield memory
        finally:
            for task in running:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await memory.usage.flush()
            await memory.upkeep.promote_pads()
            await memory.streaming.hub.close()


def _made(
    host: Host,
    knowledge: Knowledge,
    roles: Roles,
    clock: Callable[[], datetime],
    approval: ApprovalRules,
    upkeep: str,
) -> Memory:
    provider = ProviderName(name=host.portal, version=version("porch"))
    host = replace(host, database=(together := Together(host.database)))
    vectors = None if host.embedder is None else MemoryVectors(host, host.embedder)
    reading = Reading(host.database, clock)
    writing = Writing(host.database, clock, None if vectors is None else vectors.kept)
    working, notes = WorkingLayer(), NotesLayer(knowledge)
    shelves: list[Shelf] = [working, reading, notes]
    usage, failed = _counting(working, writing), FailureLog(host.log)
    audit = AuditLog(host.database, clock)
    hub = Hub(EventLog(together), host.cache, host.log)
    keep = Keeping(reading, writing, working, vectors, audit, roles, clock, hub.tell, approval)
    govern, authors = _governing(keep, together, Names(host.people)), Authors(reading, host.people)
    batches = _batches(govern, host, together)
    ranked = (host.embedder, vectors, usage, provider, failed, roles, authors)
    query = Querying(_layers(working, reading, vectors, notes), shelves, *ranked)
    return Memory(
        provider=provider,
        query=query,
        streaming=Streaming(hub.events, hub, query, roles, clock),
        keep=keep,
        govern=govern,
        batches=batches,
        look=Looking(shelves, reading, usage, roles),
        lists=Lists(reading, working, roles),
        authors=authors,
        usage=usage,
        upkeep=upkeep_over(keep, together, approval.layers, batches.tidy, host.log, upkeep),
        leaving=Leaving(together, reading, writing, working, vectors, batches.store),
        exchange=host.exchange,
        people=host.people,
        following=_following(host, vectors, hub.events, clock, failed),
    )


def _layers(
    working: WorkingLayer, reading: Reading, vectors: MemoryVectors | None, notes: NotesLayer
) -> list[AskedLayer]:
    """What a query asks, one after the other."""
    stored = [StoredLayer(each, reading, vectors) for each in Layer if each is not Layer.WORKING]
    return [working, *stored, notes]


def _following(
    host: Host,
    vectors: MemoryVectors | None,
    events: EventLog,
    clock: Callable[[], datetime],
    failed: FailureLog,
) -> Following | None:
    """Only a server's database has other processes, and only vectors of one's own miss them."""
    if vectors is None or not host.vectors.own or host.database.engine.dialect.name == "sqlite":
        return None
    vectors.behind = True
    return Following(events, Inventory(host.database, clock), vectors, failed)


def _counting(working: WorkingLayer, writing: Writing) -> Usage:
    async def used(uses: Mapping[str, int]) -> None:
        working.used(uses)
        await writing.used(uses)

    return Usage(used)


def _governing(keep: Keeping, together: Together, names: Names) -> Governing:
    clock = keep.clock
    notices = Notices(together, clock, keep.tell)
    return Governing(keep, Approvals(together, clock), clock, notices, names)


def _batches(govern: Governing, host: Host, together: Together) -> Batches:
    store = BatchStore(together, govern.clock)
    return Batches(govern, store, Chunks(govern, store, together, host.log), host.jobs, host.log)
