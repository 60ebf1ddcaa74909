"""Requests that wait for a person: made, listed, decided and carried out (README, "Approval")."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.contract import Caller
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.rights.delegation import limit_to_approver
from plugins.knowledge.memory.rights.roles import has_role, require_role
from plugins.knowledge.memory.store.approvals import (
    Approval,
    ApprovalPayload,
    ApprovalStore,
    new_approval_id,
)
from plugins.knowledge.memory.store.audit import AuditRecord
from plugins.knowledge.memory.store.notices import Notices
from plugins.knowledge.memory.write.approval_requests import (
    carry_out,
    check_decidable,
    read_to_decide,
)
from plugins.knowledge.memory.write.entries import Entries
from plugins.knowledge.memory.write.messages import notify_approvers, notify_requester

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from plugins.knowledge.memory.store.approvals import Operation, State

MAX_PENDING_REQUESTS = 200
"""Requests of one person that wait at a time, so that nobody buries those of others."""
_FINAL_ERRORS = frozenset(
    {
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNAUTHORIZED,
        ErrorCode.FORBIDDEN,
        ErrorCode.NOT_FOUND,
        ErrorCode.CONFLICT,
    }
)
"""Errors that another try does not mend."""


@dataclass(frozen=True, slots=True)
class Approvals:
    """The requests that wait for a person, and their decisions.

    Attributes:
        entries: the operations that carry them out.
        store: where they are kept.
        notices: notifies those who may decide, and those who asked.
    """

    entries: Entries
    store: ApprovalStore
    notices: Notices

    async def request(
        self,
        operation: Operation,
        entry: str,
        payload: ApprovalPayload,
        caller: Caller,
        *,
        reason: str | None = None,
        current_readers: Collection[str] | None = None,
    ) -> Approval:
        """Let a write wait for a person; who asks for the same again has their first request.

        Args:
            operation: what is to be done.
            entry: the id of the entry.
            payload: what it takes to do it.
            caller: the person who asks.
            reason: why, in their words.
            current_readers: the keys that may read the entry now, where only their holders may
                decide.

        Raises:
            MemoryFailed: nobody could decide it, or too many requests of theirs wait already.
        """
        person = caller.person or ""
        readable = [payload.readers, *([] if current_readers is None else [current_readers])]
        check_decidable(caller, *readable)
        waiting = await self.store.of(person, "pending")
        for each in waiting:
            if _is_the_same(each, operation, entry, payload):
                return each
        if len(waiting) >= MAX_PENDING_REQUESTS:
            raise MemoryFailed(
                ErrorCode.RATE_LIMITED,
                f"{MAX_PENDING_REQUESTS} of your requests wait for a person. Have some of them "
                "decided, or take them back, before you ask for more.",
            )
        now = self.entries.clock()
        asked = Approval(new_approval_id(), operation, entry, payload, reason, person, now)
        await self.store.add(asked)
        await self.entries.audit.add(AuditRecord(person, operation, entry, "pending", asked.id))
        await notify_approvers(self.notices, asked, self.entries.roles.approve, readable)
        return asked

    async def visible_to(self, caller: Caller, state: State | None = None) -> list[Approval]:
        """A caller's own requests and those that they may decide, as :func:`place` orders them.

        Args:
            caller: who looks.
            state: of which state; of any where none is given.
        """
        person = require_role(caller, self.entries.roles.read, "see requests")
        found = await self.store.of(person, state)
        if state in (None, "pending") and self._may_decide(caller):
            others = await self.store.of_others(person, caller_keys(caller))
            found += await self._readable(others, caller)
        return sorted(found, key=place)

    async def one(self, id: str, caller: Caller) -> Approval:
        """A request that a caller may see.

        Raises:
            MemoryFailed: there is no such request for them.
        """
        require_role(caller, self.entries.roles.read, "see requests")
        found = await self.store.get(id)
        if found is None or not await self._may_see(found, caller):
            raise MemoryFailed(ErrorCode.NOT_FOUND, "There is no such request for you to see.")
        return found

    async def pending(self, id: str, caller: Caller) -> Approval:
        """A request that waits, for a caller who may see it.

        Raises:
            MemoryFailed: there is no such request for the caller, or it is decided.
        """
        require_role(caller, self.entries.roles.read, "decide a request")
        found = await self.store.get(id)
        if found is None or not await self._may_see(found, caller):
            raise MemoryFailed(ErrorCode.NOT_FOUND, "There is no such request for you to decide.")
        if found.state != "pending":
            raise _already_decided()
        return found

    async def decide(
        self, id: str, caller: Caller, *, approve: bool, note: str | None = None
    ) -> Approval:
        """Approve a request, which carries it out with the asker's rights, or reject it.

        People can only reject their own requests; admins can approve theirs too.

        Args:
            id: the request's.
            caller: the person who decides.
            approve: whether it is approved.
            note: what they say to the person who asked.

        Raises:
            MemoryFailed: there is no such request for the caller, it is decided, it is their own,
                or it cannot be carried out any more.
        """
        person = require_role(caller, self.entries.roles.read, "decide a request")
        found = await self.pending(id, caller)
        if not approve:
            await self._close(found, "rejected", person, note)
        elif found.requested_by == person and not caller.admin:
            await self.entries.audit.add(AuditRecord(person, "approve", found.entry, "refused"))
            raise MemoryFailed(
                ErrorCode.GOVERNANCE_DENIED, "Your own request takes somebody else to approve it."
            )
        elif found.payload is not None:
            await self._approve(found, found.payload, caller, note)
        return await self.store.get(id) or found

    async def _approve(
        self, found: Approval, payload: ApprovalPayload, caller: Caller, note: str | None
    ) -> None:
        """Decide and carry out in one transaction: both happen, or neither, and never twice."""
        person, decided = caller.person or "", False
        asker = payload.asker.caller(found.requested_by)

        async def decide(connection: AsyncConnection) -> None:
            nonlocal decided
            if not await self.store.decide_in(connection, found.id, "approved", person, note):
                raise _already_decided()
            line = AuditRecord(person, "approve", found.entry, "done", found.id)
            await self.entries.audit.add_in(connection, line)
            decided = True

        approved_by = person if person != found.requested_by else None
        writes = self.entries.writes.alongside(decide, approved_by)
        try:
            stands = await carry_out(
                replace(self.entries, writes=writes),
                found,
                payload,
                limit_to_approver(asker, caller),
            )
        except MemoryFailed as failure:
            if failure.number not in _FINAL_ERRORS or decided:
                raise
            if failure.number is ErrorCode.FORBIDDEN and asker.admin and not caller.admin:
                message = "It was asked for with an admin's right: it takes an admin to approve it."
                raise MemoryFailed(ErrorCode.GOVERNANCE_DENIED, message) from failure
            why = f"It cannot be done any more. {failure}"
            await self._close(found, "failed", person, f"{why} {note}" if note else why)
            raise MemoryFailed(ErrorCode.GOVERNANCE_DENIED, why) from failure
        if not decided:
            raise MemoryFailed(
                ErrorCode.CONFLICT, "The entry changed in this moment. Approve once more."
            )
        if stands != found.entry:
            await self.store.stands(found.id, stands)
        await notify_requester(self.notices, found, "approved")

    async def _close(self, found: Approval, state: State, person: str, note: str | None) -> None:
        """Decide a request without carrying it out."""
        if not await self.store.decide(found.id, state, person, note):
            raise _already_decided()
        operation = "reject" if state == "rejected" else "approve"
        outcome = "done" if state == "rejected" else "failed"
        await self.entries.audit.add(AuditRecord(person, operation, found.entry, outcome, found.id))
        await notify_requester(self.notices, found, state)

    def _may_decide(self, caller: Caller) -> bool:
        return caller.admin or has_role(caller, self.entries.roles.approve)

    async def _readable(self, some: Collection[Approval], caller: Caller) -> list[Approval]:
        """The requests whose entries the caller may read: as they would be, and as they are."""
        held = caller_keys(caller)
        wanted = [each for each in some if each.payload and held.intersection(each.payload.readers)]
        kept = {id for each in wanted for id in read_to_decide(each)}
        there = await self.entries.reads.read(kept, held)
        return [each for each in wanted if read_to_decide(each) <= there.keys()]

    async def _may_see(self, one: Approval, caller: Caller) -> bool:
        """Whether a request is the caller's own, or waits for people like them."""
        if one.requested_by == caller.person:
            return True
        waits = one.state == "pending" and self._may_decide(caller)
        return waits and bool(await self._readable([one], caller))


def place(one: Approval) -> tuple[bool, float, str]:
    """Where a request stands in a list, in ascending order: what waits first, the newest first."""
    return one.state != "pending", -one.requested_at.timestamp(), one.id


def _is_the_same(
    waiting: Approval, operation: Operation, entry: str, payload: ApprovalPayload
) -> bool:
    """Whether a request that waits asks for what is asked for now."""
    if waiting.operation != operation or waiting.payload is None:
        return False
    same_entry = operation == "create" or waiting.entry == entry
    return same_entry and waiting.payload.asks_the_same(payload)


def _already_decided() -> MemoryFailed:
    return MemoryFailed(ErrorCode.CONFLICT, "The request is decided already.")
