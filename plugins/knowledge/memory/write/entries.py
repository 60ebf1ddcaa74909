"""Adds, changes and removes entries (protocol, "Create/Update Endpoint", "Delete Endpoint")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from gateway.contract import Caller
from plugins.knowledge.memory.layers.working import WorkingLayer
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import AccessPolicyConfig
from plugins.knowledge.memory.model.record import (
    NOTE_PREFIX,
    Record,
)
from plugins.knowledge.memory.model.requests import (
    CreateRequest,
    DeleteRequest,
    RelationDraft,
    UpdateRequest,
)
from plugins.knowledge.memory.model.responses import CreateResponse, DeleteResponse
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.rights.approval_rules import Agreement, ApprovalNeeded, ApprovalRules
from plugins.knowledge.memory.rights.roles import Roles, may_change, may_remove, require_role
from plugins.knowledge.memory.store.audit import AuditLog, AuditRecord
from plugins.knowledge.memory.store.reads import Reads
from plugins.knowledge.memory.store.relations import Beside
from plugins.knowledge.memory.store.vectors import MemoryVectors
from plugins.knowledge.memory.store.writes import Event, Writes
from plugins.knowledge.memory.write.drafts import new_record, updated_record
from plugins.knowledge.memory.write.duplicates import Said, add_unless_said, note_again, say_again
from plugins.knowledge.memory.write.embedding import entry_vector
from plugins.knowledge.memory.write.merging import merged
from plugins.knowledge.memory.write.near import Look
from plugins.knowledge.memory.write.places import in_its_place
from plugins.knowledge.memory.write.relations import EntryRelations, holds_again, is_seen_by_others
from plugins.knowledge.memory.write.removals import remove

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from plugins.knowledge.memory.store.vectors import Vector

LATE_NOTE = (
    "It is kept. It is long, and still being read: until that is done, some minutes from now, its "
    "beginning is found by meaning and the rest by its words."
)
"""What the writer of an entry is told of which the model has yet to read later passages."""
_MAX_ATTEMPTS = 5
"""How often an update is merged again where others keep writing the same entry."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The operations that write.

    Attributes:
        reads: the database, to read.
        writes: the database, to write.
        working: working memory.
        vectors: the vector store, or None where the portal has no model.
        audit: the log of who did what.
        roles: who may do what.
        clock: gives the time, with its zone.
        tell: hears what happened, once it is written.
        rules: what a person has to allow first.
        relations: how entries go together.
    """

    reads: Reads
    writes: Writes
    working: WorkingLayer
    vectors: MemoryVectors | None
    audit: AuditLog
    roles: Roles
    clock: Callable[[], datetime]
    tell: Callable[[Sequence[Event]], None]
    rules: ApprovalRules
    relations: EntryRelations

    async def create(
        self,
        request: CreateRequest,
        caller: Caller,
        id: str | None = None,
        agreement: Agreement | None = None,
        after: str | None = None,
        turn: str | None = None,
    ) -> CreateResponse:
        """Keep an entry.

        One that says what the caller's own entry in that layer says already becomes a version
        of that one (README, "Duplicates").

        Args:
            request: what is asked for.
            caller: who asks.
            id: what its id is to be; a new one where none is given.
            agreement: what a person said yes to.
            after: the entry with the turn of a conversation before it, where that is known: the
                same words behind another one are another turn.
            turn: the entry with the turn whose words it has, where it was found in one; what it
                says is compared from now on, and no more what the turn says.

        Raises:
            ApprovalNeeded: a person has to allow it first.
            MemoryFailed: the caller may not, the entry is too large, or it cannot be embedded.
        """
        person = require_role(caller, self.roles.write, "write to memory")
        record = new_record(request, caller, person, self.clock())
        record = record if id is None else replace(record, id=id)
        related = await self.relations.targets(record, request.entry.relations, caller)
        self.rules.check(record, None, agreement)
        if agreement is None and is_seen_by_others(record, related, person):
            raise ApprovalNeeded(record, None)
        if id is not None and (self.working.holds(id) or await self.reads.is_taken(id)):
            raise MemoryFailed(
                ErrorCode.CONFLICT,
                "This id is taken, by an entry that was removed or is not yours. Leave it out, and "
                "the entry gets one.",
            )
        if record.layer is Layer.WORKING:
            return note_again(self.working, record, self.clock(), is_turn=after is not None)
        generate = request.options.generate_embedding
        vector = await entry_vector(self.vectors, record, request.entry.embedding, generate)
        said_in = None if turn is None else await self.found(turn, caller)
        before = None if after is None else await self.found(after, caller)
        placed = await in_its_place(self.reads, record, before, said_in)
        record = replace(placed, embedded=vector is not None)
        look = await self.relations.nearby(record, vector, caller)
        said = Said(record, vector, related, look, is_turn=after is not None)
        for _ in range(_MAX_ATTEMPTS):
            if not (twins := await add_unless_said(self, said, caller)):
                return await self._created(said, caller, with_vector=bool(generate))
            if made := await say_again(self, said, twins, caller):
                return made
        raise _too_many_changes()

    async def _created(self, said: Said, caller: Caller, *, with_vector: bool) -> CreateResponse:
        """Show what was added, and what is answered of it."""
        note = await self.show(said.record, said.vector)
        entry = said.record.entry(_numbers(said.vector if with_vector else None))
        decided = {target.id for target, _ in said.related}
        near = await self.relations.nearby.named(said.look.near, decided, caller)
        return CreateResponse(entry=entry, status="created", near=near, note=note)

    async def update(
        self,
        id: str,
        request: UpdateRequest,
        caller: Caller,
        agreement: Agreement | None = None,
        seen: Record | None = None,
    ) -> CreateResponse:
        """Write a new version of an entry, merged with what others wrote meanwhile.

        Args:
            id: the entry's.
            request: what is asked for.
            caller: who asks.
            agreement: what a person said yes to.
            seen: the entry, where it was read a moment ago.

        Raises:
            ApprovalNeeded: a person has to allow it first.
            MemoryFailed: there is no such entry to see, the caller may not change it, or it was
                changed meanwhile in the same place (``CONFLICT``).
        """
        person = require_role(caller, self.roles.write, "write to memory")
        for _ in range(_MAX_ATTEMPTS):
            current, seen = seen or await self.found(id, caller), None
            self.check_change(current, request, caller)
            wanted = await self.wanted(current, request, caller)
            self.rules.check(wanted, current, agreement)
            if agreement is None and await self.relations.shows_an_end(current, wanted, person):
                raise ApprovalNeeded(wanted, current)
            if current.layer is Layer.WORKING:
                self.working.put([wanted])
                return CreateResponse(entry=wanted.entry(), status="updated")
            if made := await self._replace(current, wanted, request, caller):
                return made
        raise _too_many_changes()

    async def wanted(self, current: Record, request: UpdateRequest, caller: Caller) -> Record:
        """An entry as an update makes it, merged with what was written since it was read.

        Raises:
            MemoryFailed: it was changed meanwhile in the same place (``CONFLICT``).
        """
        wanted = updated_record(current, request, self.clock())
        began = request.entry.version
        if began is None or began == current.version:
            return wanted
        return await merged(self.reads, current, wanted, began, caller)

    async def delete(self, request: DeleteRequest, caller: Caller) -> DeleteResponse:
        """Remove an entry: out of sight, or with all that was kept of it.

        Raises:
            MemoryFailed: there is no such entry to see, or the caller may not remove it.
        """
        return await remove(self, request, caller)

    async def open_up(
        self, record: Record, access: AccessPolicyConfig, person: str, agreement: Agreement
    ) -> bool:
        """Let others read just this version of an entry; false where it is not the current one.

        Its vector is the portal's own from now on.

        Args:
            record: the entry as it was read.
            access: who is to read it.
            person: who decided so.
            agreement: what a person said yes to.
        """
        wanted = replace(record, access=access, version=record.version + 1, updated=self.clock())
        wanted = replace(wanted, worded=record.said)
        self.rules.check(wanted, record, agreement)
        vector: Vector | None = None
        if self.vectors is not None:
            vector = await entry_vector(self.vectors, wanted, None, record.embedded)
        wanted = replace(wanted, embedded=vector is not None)
        event = await self.writes.replace(wanted, record.version, person, vector)
        if event is None:
            return False
        self.tell([event])
        if self.vectors is not None:
            await self.vectors.follow([wanted])
        return True

    async def relate(
        self,
        record: Record,
        draft: RelationDraft,
        caller: Caller,
        agreement: Agreement | None = None,
    ) -> None:
        """Say how an entry goes together with an earlier one.

        It takes one who may change either of the two: the earlier one's owner decides what
        somebody else's entry makes of it.

        Args:
            record: the entry.
            draft: the earlier one, and how.
            caller: who says it.
            agreement: what a person said yes to.

        Raises:
            ApprovalNeeded: a person has to allow it first.
            MemoryFailed: the caller may not, or they would supersede each other in a circle.
        """
        person = require_role(caller, self.roles.write, "write to memory")
        related = await self.relations.targets(record, [draft], caller)
        if not any(may_change(caller, each) for each in (record, *(one for one, _ in related))):
            raise _not_theirs_to_settle(record, draft)
        if agreement is None and is_seen_by_others(record, related, person):
            raise ApprovalNeeded(record, record)

        async def write(connection: AsyncConnection) -> None:
            await self.relations.reopen_in(
                connection, record, related, caller, agreed=agreement is not None
            )
            await self.relations.write_in(connection, record.id, related, caller)

        line = AuditRecord(person, "relate", record.id, "done", draft.target)
        await self.audited(line).alongside(write).run()

    async def found(self, id: str, caller: Caller) -> Record:
        """An entry that a caller can read.

        Raises:
            MemoryFailed: there is none; or it is a note, which is written where it comes from.
        """
        if id.startswith(NOTE_PREFIX):
            raise MemoryFailed(
                ErrorCode.FORBIDDEN,
                "This is a note of the knowledge base: it is changed in its source, not here.",
            )
        held = caller_keys(caller)
        found = await self.working.read([id], held) or await self.reads.read([id], held)
        if id not in found:
            raise MemoryFailed(ErrorCode.NOT_FOUND, "There is no such entry, or it is not yours.")
        return found[id]

    async def _replace(
        self, current: Record, wanted: Record, request: CreateRequest, caller: Caller
    ) -> CreateResponse | None:
        """Write a version in place of another; None where that is not the current one any more."""
        person = caller.person or ""
        generate = request.options.generate_embedding
        vector = await entry_vector(
            self.vectors,
            wanted,
            request.entry.embedding,
            current.embedded if generate is None else generate,
        )
        wanted = replace(wanted, embedded=vector is not None)
        is_same = wanted.text == current.text
        look: Look | None = None
        # Who wants no vector beside a model wants it written fast: by words it takes as long again.
        if not is_same and (vector is not None or self.vectors is None):
            look = await self.relations.nearby(wanted, vector, caller)

        ended: list[Beside] = []

        async def revise(connection: AsyncConnection) -> None:
            if look is not None:
                await self.relations.nearby.again_in(connection, look)
            if not is_same:
                near = () if look is None else look.near
                ended[:] = await self.relations.revise_in(connection, current, wanted, near)

        writes = self.audited(AuditRecord(person, "update", wanted.id, "done")).alongside(revise)
        event = await writes.replace(wanted, current.version, person, vector)
        if event is None:
            return None
        self.tell([event])
        shown = await self.show(wanted, vector, hidden=current.embedded)
        note = " ".join(filter(None, (holds_again(wanted.id, ended, caller), shown))) or None
        near = () if look is None else look.near
        told = await self.relations.nearby.named(near, (), caller)
        return CreateResponse(entry=wanted.entry(), status="updated", near=told, note=note)

    async def show(
        self, record: Record, vector: Vector | None, *, hidden: bool = False
    ) -> str | None:
        """Let a written entry be found by its vector; without one, by no earlier one either.

        Returns:
            What its writer should know, if there is something.
        """
        if self.vectors is None:
            return None
        if vector is None:
            if hidden:
                await self.vectors.hide([record.id])
            return None
        return None if await self.vectors.show([(record, vector)]) else LATE_NOTE

    def check_change(self, record: Record, request: UpdateRequest, caller: Caller) -> None:
        """Refuse a change that the caller may not make.

        Raises:
            MemoryFailed: they may not change the entry, or not say who reads it.
        """
        if not may_change(caller, record):
            raise _not_changeable()
        wanted = updated_record(record, request, record.changed).access
        if wanted != record.access and not may_remove(caller, record):
            raise MemoryFailed(ErrorCode.FORBIDDEN, "Only its owner can say who reads an entry.")

    def audited(self, *audit_records: AuditRecord) -> Writes:
        """What writes a change with its lines in the audit log: both, or neither."""

        async def alongside(connection: AsyncConnection) -> None:
            await self.audit.add_in(connection, *audit_records)

        return self.writes.alongside(alongside)


def _not_changeable() -> MemoryFailed:
    return MemoryFailed(
        ErrorCode.FORBIDDEN,
        "You can read this entry, not change it: it takes its owner, or one whom its policy names.",
    )


def _not_theirs_to_settle(record: Record, draft: RelationDraft) -> MemoryFailed:
    return MemoryFailed(
        ErrorCode.FORBIDDEN,
        f"You can read {record.id} and {draft.target}, not say how they go together: that takes "
        "the owner of one of them, or one whom its policy names. Say in an entry of your own what "
        "you know, and that it contests one of them.",
    )


def _too_many_changes() -> MemoryFailed:
    return MemoryFailed(
        ErrorCode.CONFLICT, "Others keep changing this entry. Read it again, and try later."
    )


def _numbers(vector: Vector | None) -> tuple[float, ...] | None:
    return None if vector is None else tuple(float(each) for each in vector)
