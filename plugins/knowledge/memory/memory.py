"""Memory as tools and routes use it: one facade over its layers and operations."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version

from gateway.contract import Exchange, Host, People
from gateway.toolkit.background import background, every
from plugins.knowledge.config import EVERY_TEN_MINUTES
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.memory.algorithms.extraction import RuleExtractor
from plugins.knowledge.memory.batches.batches import Batches
from plugins.knowledge.memory.batches.chunks import Chunks
from plugins.knowledge.memory.extraction.reader import ModelReader
from plugins.knowledge.memory.layers.notes import NotesLayer
from plugins.knowledge.memory.layers.stored import StoredLayer
from plugins.knowledge.memory.layers.working import WorkingLayer
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.query_context import SearchLayer
from plugins.knowledge.memory.model.responses import ProviderName
from plugins.knowledge.memory.personal_data import MemoryPersonalData
from plugins.knowledge.memory.query.authors import Authors
from plugins.knowledge.memory.query.engine import QueryEngine
from plugins.knowledge.memory.query.links import LinkedAnswers
from plugins.knowledge.memory.query.lists import EntryLists
from plugins.knowledge.memory.query.reader import EntryReader
from plugins.knowledge.memory.query.review import ReviewQueue
from plugins.knowledge.memory.query.standing import StandingOrder
from plugins.knowledge.memory.query.usage import Usage
from plugins.knowledge.memory.rights.approval_rules import ApprovalRules
from plugins.knowledge.memory.rights.extraction_rules import ExtractionRules
from plugins.knowledge.memory.rights.recipients import Recipients
from plugins.knowledge.memory.rights.roles import Roles
from plugins.knowledge.memory.store.approvals import ApprovalStore
from plugins.knowledge.memory.store.audit import AuditLog
from plugins.knowledge.memory.store.batches import BatchStore
from plugins.knowledge.memory.store.entity_links import EntityLinks
from plugins.knowledge.memory.store.failure_log import FailureLog
from plugins.knowledge.memory.store.inventory import Inventory
from plugins.knowledge.memory.store.notices import Notices
from plugins.knowledge.memory.store.reads import Reads
from plugins.knowledge.memory.store.recent import Recent
from plugins.knowledge.memory.store.relations import Relations
from plugins.knowledge.memory.store.unit_of_work import UnitOfWork
from plugins.knowledge.memory.store.vectors import MemoryVectors
from plugins.knowledge.memory.store.writes import Event, Writes
from plugins.knowledge.memory.streams.event_log import EventLog
from plugins.knowledge.memory.streams.hub import Hub
from plugins.knowledge.memory.streams.streams import Streams
from plugins.knowledge.memory.upkeep.build import build_upkeep
from plugins.knowledge.memory.upkeep.upkeep import Upkeep
from plugins.knowledge.memory.upkeep.vector_follower import VectorFollower
from plugins.knowledge.memory.upkeep.vector_succession import VectorSuccession
from plugins.knowledge.memory.write.approvals import Approvals
from plugins.knowledge.memory.write.conversations import Conversations
from plugins.knowledge.memory.write.entries import Entries
from plugins.knowledge.memory.write.governed import GovernedEntries
from plugins.knowledge.memory.write.late_reading import LateReading
from plugins.knowledge.memory.write.near import NearEntries
from plugins.knowledge.memory.write.relations import EntryRelations
from plugins.knowledge.memory.write.verifications import Verifications
from plugins.knowledge.retrieval.replaced import LOOK_INTERVAL_S

_VERSION = version("porch")


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Memory:
    """Everything that agents remember.

    Attributes:
        query: the query operation.
        entries: the operations that write.
        governed: the same, where some writes wait for a person.
        batches: the same, many at once.
        reader: the operations that read one entry.
        lists: lists entries.
        authors: finds who wrote what is shown.
        streams: tells what happens while it happens.
        usage: counts answers and reads.
        upkeep: keeps all of it in order.
        personal_data: hands people what is kept of them, and erases it.
        exchange: the call that is running now.
        people: whom callers may know of.
        verify: writes down who verified what.
        review: finds what waits for a look.
        conversations: keeps conversations, and what they say.
        vector_follower: takes over the vectors of what other processes write, or fills the
            store after a change of the model; None where the portal has no model.
    """

    query: QueryEngine
    entries: Entries
    governed: GovernedEntries
    batches: Batches
    reader: EntryReader
    lists: EntryLists
    authors: Authors
    streams: Streams
    usage: Usage
    upkeep: Upkeep
    personal_data: MemoryPersonalData
    exchange: Callable[[], Exchange]
    people: People
    verify: Verifications
    review: ReviewQueue
    conversations: Conversations
    vector_follower: VectorFollower | VectorSuccession | None = None

    @property
    def provider(self) -> ProviderName:
        """Who answers."""
        return self.query.provider

    @property
    def standing(self) -> StandingOrder:
        """Says of entries whether they hold."""
        return self.review.standing

    @property
    def late_reading(self) -> LateReading | None:
        """Reads conversations after they were kept, where a model or agents read any."""
        rules = self.conversations.reader.rules
        return LateReading(self.conversations) if rules.model or rules.agents else None

    @property
    def approvals(self) -> Approvals:
        """What waits for a person's yes."""
        return self.governed.approvals

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
        extraction: ExtractionRules | None = None,
    ) -> AsyncGenerator[Memory]:
        """Open memory on a plugin's services, whose tables must be up to date.

        Args:
            host: the services.
            knowledge: the notes, which are a part of the organization's memory.
            roles: who may do what.
            clock: gives the time, with its zone; replaced in tests.
            approval: what a person has to allow; the default rules where none are given.
            upkeep: when it is kept in order, as a cron expression in UTC.
            extraction: whose model reads conversations; none where nothing is given.
        """
        rules, reading = approval or ApprovalRules(), extraction or ExtractionRules()
        reader = ModelReader(reading, roles, host.models, host.work, host.jobs, host.log)
        memory = _assembled(host, knowledge, roles, clock, rules, upkeep, reader)
        going = [memory.usage.run(), memory.upkeep.run_working_moves()]
        if memory.vector_follower is not None:
            going.append(memory.vector_follower.run())
        if (vectors := memory.entries.vectors) is not None and not host.vectors.own:
            failed = partial(FailureLog(host.log), "vectors of other models")
            look = vectors.replaced.look
            going.append(every(LOOK_INTERVAL_S, look, failed, first_s=0.0))
        async with AsyncExitStack() as ending:  # the last first, and each whatever fails before
            ending.push_async_callback(memory.streams.hub.close)
            ending.push_async_callback(memory.upkeep.promote_working)
            ending.push_async_callback(memory.usage.flush)
            async with background(*going):
                yield memory


def _assembled(
    host: Host,
    knowledge: Knowledge,
    roles: Roles,
    clock: Callable[[], datetime],
    rules: ApprovalRules,
    upkeep: str,
    reader: ModelReader,
) -> Memory:
    host = replace(host, database=(unit_of_work := UnitOfWork(host.database)))
    hub, failed = Hub(EventLog(unit_of_work), host.cache, host.log), FailureLog(host.log)
    entries = _entries(host, roles, clock, rules, hub)
    reads, working, vectors = entries.reads, entries.working, entries.vectors
    governed = _governed(entries, unit_of_work, host)
    batches = _batches(governed, host, unit_of_work)
    usage = _usage(working, entries.writes)
    notes, authors = NotesLayer(knowledge), Authors(host.people, reads)
    standing = StandingOrder(entries.relations.store, reads, clock, notes)
    query = _query_engine(host, entries, notes, usage, authors, standing, failed)
    return Memory(
        query=query,
        streams=Streams(hub.events, hub, query, roles, clock),
        entries=entries,
        governed=governed,
        batches=batches,
        reader=EntryReader(query.sources, reads, usage, roles, knowledge.unfinished),
        lists=EntryLists(reads, working, roles, authors),
        authors=authors,
        usage=usage,
        upkeep=build_upkeep(
            entries, unit_of_work, batches.look_after, host.log, upkeep, knowledge.standings
        ),
        personal_data=MemoryPersonalData(entries, unit_of_work, batches.store, reader.offered),
        exchange=host.exchange,
        people=host.people,
        verify=Verifications(entries, notes, knowledge.unfinished),
        conversations=Conversations(governed, RuleExtractor(), reader),
        review=ReviewQueue(standing, roles, knowledge.standings),
        vector_follower=_vector_follower(host, vectors, hub.events, clock, failed),
    )


def _query_engine(
    host: Host,
    entries: Entries,
    notes: NotesLayer,
    usage: Usage,
    authors: Authors,
    standing: StandingOrder,
    failed: FailureLog,
) -> QueryEngine:
    reads, working, vectors = entries.reads, entries.working, entries.vectors
    return QueryEngine(
        layers=_layers(working, reads, vectors, notes),
        sources=[working, reads, notes],
        embedder=host.embedder,
        vectors=vectors,
        usage=usage,
        provider=ProviderName(name=host.portal, version=_VERSION),
        failed=failed,
        roles=entries.roles,
        authors=authors,
        standing=standing,
        linked=LinkedAnswers(EntityLinks(reads), vectors, standing),
    )


def _entries(
    host: Host, roles: Roles, clock: Callable[[], datetime], rules: ApprovalRules, hub: Hub
) -> Entries:
    vectors = None if host.embedder is None else MemoryVectors(host, host.embedder)
    reads = Reads(host.database, clock)
    writes = Writes(host.database, clock, None if vectors is None else vectors.kept)
    audit = AuditLog(host.database, clock)
    working = WorkingLayer()
    store = Relations(host.database, clock)
    recent = Recent(host.database, clock, None if vectors is None else vectors.findable)

    def tell(events: Sequence[Event]) -> None:
        if events:
            recent.know(events[-1].number)
        hub.tell(events)

    return Entries(
        reads=reads,
        writes=writes,
        working=working,
        vectors=vectors,
        audit=audit,
        roles=roles,
        clock=clock,
        tell=tell,
        rules=rules,
        relations=EntryRelations(store, reads, NearEntries(store, reads, vectors, recent)),
    )


def _layers(
    working: WorkingLayer, reads: Reads, vectors: MemoryVectors | None, notes: NotesLayer
) -> list[SearchLayer]:
    """The layers in the order in which a query reports them."""
    stored = [StoredLayer(each, reads, vectors) for each in Layer if each is not Layer.WORKING]
    return [working, *stored, notes]


def _vector_follower(
    host: Host,
    vectors: MemoryVectors | None,
    events: EventLog,
    clock: Callable[[], datetime],
    failed: FailureLog,
) -> VectorFollower | VectorSuccession | None:
    """Who fills the vector store; a follower where other processes write what it has not."""
    if vectors is None:
        return None
    inventory = Inventory(host.database, clock)
    if not host.vectors.own or host.database.engine.dialect.name == "sqlite":
        return VectorSuccession(inventory, vectors, failed)
    vectors.behind = True
    return VectorFollower(events, inventory, vectors, failed)


def _usage(working: WorkingLayer, writes: Writes) -> Usage:
    async def used(uses: Mapping[str, int]) -> None:
        working.used(uses)
        await writes.used(uses)

    return Usage(used)


def _governed(entries: Entries, unit_of_work: UnitOfWork, host: Host) -> GovernedEntries:
    store = ApprovalStore(unit_of_work, entries.clock)
    notices = Notices(unit_of_work, entries.clock, entries.tell)
    return GovernedEntries(entries, Approvals(entries, store, notices), Recipients(host.people))


def _batches(governed: GovernedEntries, host: Host, unit_of_work: UnitOfWork) -> Batches:
    store = BatchStore(unit_of_work, governed.entries.clock)
    chunks = Chunks(governed, store, unit_of_work, host.log)
    return Batches(governed, store, chunks, host.jobs, host.log)
