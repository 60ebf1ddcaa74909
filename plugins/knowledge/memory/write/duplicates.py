"""Entries of one owner that say the same: one of them stands (README, "Duplicates")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from gateway.contract import Caller
from plugins.knowledge.memory.algorithms.deduplication import deduplicate
from plugins.knowledge.memory.layers.working import WorkingLayer
from plugins.knowledge.memory.model.record import Record, is_generated_id
from plugins.knowledge.memory.model.responses import CreateResponse
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.store.audit import AuditRecord
from plugins.knowledge.memory.write.embedding import entry_vector
from plugins.knowledge.memory.write.near import Look
from plugins.knowledge.memory.write.relations import Related

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from plugins.knowledge.memory.store.vectors import MemoryVectors, Vector
    from plugins.knowledge.memory.write.entries import Entries


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody says now.

    Attributes:
        record: the entry.
        vector: its vector, or None where it has none.
        related: what its writer says about earlier entries.
        look: what was found near it, and takes what is found once more under the lock.
        is_turn: whether it is a turn of a conversation, which another one of the same words repeats
            only where it stands behind the same turn.
    """

    record: Record
    vector: Vector | None
    related: Sequence[Related]
    look: Look
    is_turn: bool


class _AlreadySaid(Exception):
    """What is to be written is said already: the transaction is given up.

    Args:
        by: the entries that say it.
    """

    def __init__(self, by: Sequence[Record]) -> None:
        super().__init__()
        self.by = by


async def add_unless_said(entries: Entries, said: Said, caller: Caller) -> Sequence[Record]:
    """Write an entry, unless others of its owner say the same; whoever calls this shows it.

    These are looked for under the lock that orders writes: of several who say one thing at the same
    moment only the first adds an entry.

    Args:
        entries: what writes.
        said: what is said now.
        caller: who says it.

    Returns:
        The entries that say the same; nothing is written where there are any.
    """
    record, person = said.record, caller.person or ""
    given = {} if said.vector is None else {record.id: said.vector}

    between: list[tuple[Record, Record]] = []

    async def be_first(connection: AsyncConnection) -> None:
        alike = await entries.reads.duplicates_in(
            connection, record, caller_keys(caller), behind=said.is_turn
        )
        pairs = [(each, _ended_between(said, each)) for each in alike]
        if twins := [each for each, ended in pairs if ended is None]:
            raise _AlreadySaid(twins)
        between.extend((ended, each) for each, ended in pairs if ended is not None)
        await entries.relations.nearby.again_in(connection, said.look)

    async def relate(connection: AsyncConnection) -> None:
        await entries.relations.write_in(connection, record.id, said.related, caller)
        if record.taken_from is not None:
            await entries.relations.store.leave_in(connection, record.taken_from)
        for later, earlier in between:
            await entries.relations.store.seems_in(connection, later.id, earlier.id)
        await entries.relations.found_in(connection, record.id, said.look.near)

    writes = entries.audited(AuditRecord(person, "create", record.id, "done"))
    try:
        told = await writes.add([record], person, given, first=be_first, once_there=relate)
    except _AlreadySaid as already:
        return already.by
    entries.tell(told)
    return ()


def _ended_between(said: Said, kept: Record) -> Record | None:
    """What came after an entry of the same words, and is superseded now: it was so twice."""
    superseded = (target for target, kind in said.related if kind is Relation.SUPERSEDES)
    return next((each for each in superseded if each.starts >= kept.starts), None)


async def say_again(
    entries: Entries, said: Said, twins: Sequence[Record], caller: Caller
) -> CreateResponse | None:
    """Let one of several entries stand that say the same.

    Args:
        entries: what writes.
        said: what somebody says now.
        twins: the kept ones that say the same.
        caller: who says it.

    Returns:
        What stands; None where another one of them was written meanwhile, and nothing was done.
    """
    record, vector = said.record, said.vector
    person = caller.person or ""
    chosen = not is_generated_id(record.id)
    made = deduplicate([record, *twins], entries.clock(), new=record.id, chosen=chosen)
    winner, before = made.winner, next((e for e in twins if e.id == made.winner.id), None)
    if before is not None:
        winner, vector = await _worded(entries.vectors, winner, before, record, vector)
    gone = {id: version for id, version in made.gone.items() if id != record.id}

    async def relate(connection: AsyncConnection) -> None:
        await entries.relations.write_in(connection, winner.id, said.related, caller)

    writes = entries.audited(*_audit_records(person, winner, gone, is_kept=before is not None))
    version = None if before is None else before.version
    written = await writes.alongside(relate).deduplicate(
        winner, version, gone, person, vector, made.more_uses
    )
    if written is None:
        return None
    entries.tell(written)
    note = None
    if before is None:
        note = await entries.show(winner, vector)
    elif entries.vectors is not None:
        await entries.vectors.follow([winner])
    if entries.vectors is not None:
        await entries.vectors.hide(made.gone)
    status: Literal["created", "updated"] = "created" if before is None else "updated"
    return CreateResponse(entry=winner.entry(), status=status, note=note)


def note_again(
    working: WorkingLayer, record: Record, now: datetime, *, is_turn: bool
) -> CreateResponse:
    """Keep an entry in working memory; what its owner says again stands once, and is surer.

    Args:
        working: working memory.
        record: the entry.
        now: the time.
        is_turn: whether it is a turn of a conversation: the same words later are another one.
    """
    twins = [] if is_turn else working.duplicates_of(record, now)
    if not twins:
        working.put([record])
        return CreateResponse(entry=record.entry(), status="created")
    chosen = not is_generated_id(record.id)
    made = deduplicate([record, *twins], now, new=record.id, chosen=chosen)
    working.take(made.gone)
    working.put([made.winner])
    is_new = made.winner.id == record.id
    return CreateResponse(entry=made.winner.entry(), status="created" if is_new else "updated")


def _audit_records(
    person: str, winner: Record, gone: Iterable[str], *, is_kept: bool
) -> list[AuditRecord]:
    replaced = [AuditRecord(person, "replace", id, "done", winner.id) for id in sorted(gone)]
    return [*replaced, AuditRecord(person, "update" if is_kept else "create", winner.id, "done")]


async def _worded(
    vectors: MemoryVectors | None,
    winner: Record,
    before: Record,
    said: Record,
    vector: Vector | None,
) -> tuple[Record, Vector | None]:
    """An entry that somebody said again, and its vector; None where the kept one is right.

    Args:
        vectors: the vector store, or None where the portal has no model.
        winner: the entry as it is to be.
        before: the entry as it is.
        said: what somebody said.
        vector: of that.
    """
    if winner.text == before.text and before.embedded:
        return replace(winner, embedded=True), None
    if winner.text != said.text:
        made = before.embedded or said.embedded
        vector = await entry_vector(vectors, winner, None, made)
    return replace(winner, embedded=vector is not None), vector
