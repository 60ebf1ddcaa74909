"""Writes that a person has to allow first (protocol, "governance"; README, "Approval")."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from gateway.contract import Caller
from plugins.knowledge.memory.access import keys, person_key
from plugins.knowledge.memory.acting import acting, rights, vouched
from plugins.knowledge.memory.agreement import Agreement, Unagreed, opened
from plugins.knowledge.memory.consent import Answer, Consent, excerpt
from plugins.knowledge.memory.drafting import access_of, drafted
from plugins.knowledge.memory.entries import PRIVATE, AccessPolicyConfig, Layer
from plugins.knowledge.memory.failures import ErrorCode, MemoryFailed
from plugins.knowledge.memory.keeping import Keeping
from plugins.knowledge.memory.names import Names
from plugins.knowledge.memory.records import Record
from plugins.knowledge.memory.requests import CreateRequest, DeleteRequest, UpdateRequest
from plugins.knowledge.memory.responses import ApprovalRequired, CreateResponse, DeleteResponse
from plugins.knowledge.memory.roles import demand, holds
from plugins.knowledge.memory.store.approvals import Approval, Approvals, new_approval_id
from plugins.knowledge.memory.store.audit import Deed
from plugins.knowledge.memory.store.notices import Notices
from plugins.knowledge.memory.telling import tell_decided, tell_requested
from plugins.knowledge.memory.waiting import WHO, carry_out, check_decidable, of_readable, whole

if TYPE_CHECKING:
    from plugins.knowledge.memory.store.approvals import Operation


Asked = TypeVar("Asked", bound=CreateRequest)


@dataclass(frozen=True, slots=True)
class Governing:
    """The operations that write, where some of them wait for a person.

    Attributes:
        keep: what carries them out.
        approvals: what waits.
        clock: gives the time, with its zone.
        notices: tells those who may decide, and who asked.
        names: finds whom a policy names.
    """

    keep: Keeping
    approvals: Approvals
    clock: Callable[[], datetime]
    notices: Notices
    names: Names

    def needs(self, record: Record, request: CreateRequest) -> bool:
        """Whether writing an entry has to wait.

        Args:
            record: the entry as it would be.
            request: what is asked for.
        """
        asked = request.governance.require_approval or request.governance.verification_required
        return asked or self.keep.rules.ask_for(record)

    async def create(
        self,
        request: CreateRequest,
        caller: Caller,
        consent: Consent | None = None,
        id: str | None = None,
    ) -> CreateResponse:
        """Keep an entry, or ask for it.

        What has yet to be verified is kept for its owner alone until then.

        Args:
            request: what is asked for.
            caller: who asks.
            consent: asks the caller in their client, where there is one who can be asked.
            id: what the entry's id is to be; a new one where none is given.

        Raises:
            MemoryFailed: as :meth:`Keeping.create`.
        """
        person = demand(caller, self.keep.roles.write, "write to memory")
        request = await self._named(request, caller)
        record = drafted(request, caller, person, self.clock())
        record = record if id is None else replace(record, id=id)
        if not self.needs(record, request):
            return await self.keep.create(request, caller, id)
        _check_layer(record)
        about = ("create", request.model_dump_json(), "Keep", record)
        agreement = Agreement(record.readers)
        if not _verified(request) and await self._agreed(consent, *about, person):
            return await self.keep.create(request, caller, record.id, agreement)
        wanted: dict[str, Any] = {"readers": sorted(record.readers)}
        if not request.governance.verification_required:
            payload = {**wanted, "request": request.model_dump(mode="json", exclude_unset=True)}
            waiting = await self._ask("create", record.id, payload, caller)
            return _pending(record, waiting)
        check_decidable(caller, record.readers)
        made = await self.keep.create(_hidden(request), caller, id, agreement)
        payload = {
            **wanted,
            "version": made.entry.version,
            "access": access_of(request).model_dump(mode="json"),
            "request": {"entry": {"content": made.entry.content}},
        }
        waiting = await self._ask("verify", made.entry.id, payload, caller)
        return made.model_copy(update={"status": "pending_approval", "approval_required": waiting})

    async def update(
        self, id: str, request: UpdateRequest, caller: Caller, consent: Consent | None = None
    ) -> CreateResponse:
        """Write a new version, or ask for it; the one that is there stands until then.

        Raises:
            MemoryFailed: as :meth:`Keeping.update`.
        """
        person = demand(caller, self.keep.roles.write, "write to memory")
        current = await self.keep.found(id, caller)
        self.keep.check_change(current, request, caller)
        request = await self._named(request, caller, current.access)
        wanted = await self.keep.wanted(current, request, caller)
        if not self.needs(wanted, request):
            try:
                return await self.keep.update(id, request, caller)
            except Unagreed as stopped:  # somebody opened it in this moment
                current, wanted = stopped.current or current, stopped.wanted
        _check_layer(current)
        about = (f"update {id} {current.version}", request.model_dump_json(), "Change", wanted)
        agreement = Agreement(wanted.readers, current.version)
        if not _verified(request) and await self._agreed(consent, *about, person):
            return await self.keep.update(id, request, caller, agreement)
        opens = opened(current, wanted)
        payload = {
            "readers": sorted(wanted.readers),
            "opens": opens,
            "version": current.version,
            "request": whole(request, current, wanted),
        }
        seen_by = None if opens else current.readers
        waiting = await self._ask("update", id, payload, caller, seen_by=seen_by)
        return _pending(current, waiting)

    async def delete(
        self, request: DeleteRequest, caller: Caller, consent: Consent | None = None
    ) -> DeleteResponse:
        """Remove an entry, or ask for it; it stays until then.

        Raises:
            MemoryFailed: as :meth:`Keeping.delete`.
        """
        person = demand(caller, self.keep.roles.delete, "remove from memory")
        current = await self.keep.found(request.id, caller)
        self.keep.check_removal(current, caller)
        options = request.options
        hard = options.hard_delete
        others = current.readers - {person_key(person)}
        waits = hard and bool(others) and self.keep.rules.hard_deletes
        if not (options.governance.require_approval or waits):
            return await self.keep.delete(request, caller)
        _check_layer(current)
        about = (f"delete {current.version}", request.model_dump_json(), "Remove", current)
        if await self._agreed(consent, *about, person):
            return await self.keep.delete(request, caller)
        payload = {"readers": sorted(current.readers)}
        reason = options.governance.reason
        waiting = await self._ask(
            "erase" if hard else "delete", current.id, payload, caller, reason
        )
        return DeleteResponse(deleted=False, entry_id=current.id, approval_required=waiting)

    async def _named(
        self, request: Asked, caller: Caller, kept: AccessPolicyConfig | None = None
    ) -> Asked:
        """A request whose policy names people and groups by their real keys.

        Raises:
            MemoryFailed: it names one that there is not.
        """
        access = request.options.access_policy
        if access is None or access == kept:
            return request
        settled = await self.names.settled(access, caller, kept)
        options = request.options.model_copy(update={"access_policy": settled})
        return request.model_copy(update={"options": options})

    async def seen(self, caller: Caller) -> list[Approval]:
        """A caller's own requests, and those that they may decide."""
        person = demand(caller, self.keep.roles.read, "see requests")
        own = list(await self.approvals.of(person))
        if not self._may_decide(caller):
            return own
        others = [each for each in await self.approvals.pending() if each.requested_by != person]
        return own + await self._readable(others, caller)

    async def decide(
        self, id: str, caller: Caller, *, approve: bool, note: str | None = None
    ) -> Approval:
        """Approve a request, which carries it out as who asked for it, or reject it.

        Their own one people can only take back, but for admins.

        Raises:
            MemoryFailed: there is no such request for the caller, it is decided, it is their own,
                or it cannot be done any more.
        """
        person = demand(caller, self.keep.roles.read, "decide a request")
        found = await self.undecided(id, caller)
        if not approve:
            await self._settle(found, "rejected", person, note)
        elif found.requested_by == person and not caller.admin:
            await self.keep.audit.add(Deed(person, "approve", found.entry, "refused"))
            raise MemoryFailed(
                ErrorCode.GOVERNANCE_DENIED, "Your own request takes somebody else to approve it."
            )
        else:
            await self._approve(found, caller, note)
        return await self.approvals.get(id) or found

    async def undecided(self, id: str, caller: Caller) -> Approval:
        """A request that waits, for a caller who sees it.

        Raises:
            MemoryFailed: there is no such request for the caller, or it is decided.
        """
        demand(caller, self.keep.roles.read, "decide a request")
        found = await self.approvals.get(id)
        if found is None or not await self._may_see(found, caller):
            raise MemoryFailed(ErrorCode.NOT_FOUND, "There is no such request for you to decide.")
        if found.state != "pending":
            raise _decided()
        return found

    async def _ask(
        self,
        operation: Operation,
        entry: str,
        payload: dict[str, Any],
        caller: Caller,
        reason: str | None = None,
        seen_by: Collection[str] | None = None,
    ) -> ApprovalRequired:
        """Let a request wait, with what it takes to act for who asks.

        Raises:
            MemoryFailed: nobody could decide it, or too many of theirs wait already.
        """
        person = caller.person or ""
        readable = [payload["readers"], *([] if seen_by is None else [seen_by])]
        check_decidable(caller, *readable)
        if await self.approvals.waiting_of(person) >= MOST_WAITING:
            raise MemoryFailed(
                ErrorCode.RATE_LIMITED,
                f"{MOST_WAITING} of your requests wait for a person. Have some of them decided, or "
                "take them back, before you ask for more.",
            )
        payload["as"] = rights(caller)
        asked = Approval(new_approval_id(), operation, entry, payload, reason, person, self.clock())
        await self.approvals.add(asked)
        await self.keep.audit.add(Deed(person, operation, entry, "pending", asked.id))
        await tell_requested(self.notices, asked, self.keep.roles.approve, readable)
        return ApprovalRequired(
            request_id=asked.id, requested_by=person, requested_at=asked.requested_at
        )

    async def _agreed(
        self,
        consent: Consent | None,
        operation: str,
        request: str,
        verb: str,
        record: Record,
        person: str,
    ) -> bool:
        """Whether the person says yes in their client; false where they are not asked.

        Raises:
            MemoryFailed: they say no.
        """
        if consent is None:
            return False
        shown = excerpt(record.content)
        question = f"{verb} this in memory, for {WHO[record.access.policy]} to read?\n\n{shown}"
        answer = await consent(question, f"{person}\n{operation}\n{request}")
        if answer is Answer.NONE:
            return False
        outcome = "done" if answer is Answer.AGREED else "refused"
        await self.keep.audit.add(Deed(person, "approve", record.id, outcome))
        if answer is Answer.REFUSED:
            raise MemoryFailed(
                ErrorCode.GOVERNANCE_DENIED, "The person said no. Do not ask for it again."
            )
        return True

    async def _approve(self, found: Approval, caller: Caller, note: str | None) -> None:
        """Decide and carry out in one transaction: both happen, or neither, and never twice."""
        person, done = caller.person or "", []
        asker = acting(found.requested_by, (found.payload or {})["as"])

        async def alongside(connection: Any) -> None:
            if not await self.approvals.decided(connection, found.id, "approved", person, note):
                raise _decided()
            deed = Deed(person, "approve", found.entry, "done", found.id)
            await self.keep.audit.added(connection, deed)
            done.append(found.id)

        other = person if person != found.requested_by else None
        keep = replace(self.keep, writing=self.keep.writing.alongside(alongside, other))
        try:
            await carry_out(keep, found, vouched(asker, caller))
        except MemoryFailed as failure:
            if failure.number not in _FINAL or done:
                raise
            if failure.number is ErrorCode.FORBIDDEN and asker.admin and not caller.admin:
                message = "It was asked for with an admin's right: it takes an admin to approve it."
                raise MemoryFailed(ErrorCode.GOVERNANCE_DENIED, message) from failure
            await self._settle(found, "failed", person, note)
            raise MemoryFailed(
                ErrorCode.GOVERNANCE_DENIED, f"It cannot be done any more. {failure}"
            ) from failure
        if not done:
            raise MemoryFailed(
                ErrorCode.CONFLICT, "The entry changed in this moment. Approve once more."
            )
        await tell_decided(self.notices, found, "approved")

    async def _settle(self, found: Approval, state: Any, person: str, note: str | None) -> None:
        if not await self.approvals.decide(found.id, state, person, note):
            raise _decided()
        operation = "reject" if state == "rejected" else "approve"
        outcome = "done" if state == "rejected" else "failed"
        await self.keep.audit.add(Deed(person, operation, found.entry, outcome, found.id))
        await tell_decided(self.notices, found, state)

    def _may_decide(self, caller: Caller) -> bool:
        return caller.admin or holds(caller, self.keep.roles.approve)

    async def _readable(self, some: Collection[Approval], caller: Caller) -> list[Approval]:
        """Those whose entries the caller may read, as they are and as they would be."""
        held = keys(caller)
        wanted = [each for each in some if not held.isdisjoint((each.payload or {})["readers"])]
        kept = {each.entry for each in wanted if of_readable(each)}
        there = await self.keep.reading.read(kept, held)
        return [each for each in wanted if not of_readable(each) or each.entry in there]

    async def _may_see(self, one: Approval, caller: Caller) -> bool:
        """Whether a request is the caller's own, or waits for somebody like them."""
        if one.requested_by == caller.person:
            return True
        waits = one.state == "pending" and self._may_decide(caller)
        return waits and bool(await self._readable([one], caller))


MOST_WAITING = 200
"""Requests of one person that wait at a time, so that nobody buries those of others."""
_FINAL = frozenset(
    {
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNAUTHORIZED,
        ErrorCode.FORBIDDEN,
        ErrorCode.NOT_FOUND,
        ErrorCode.CONFLICT,
    }
)
"""Failures that another try does not mend."""


def _verified(request: CreateRequest) -> bool:
    return request.governance.verification_required


def _pending(record: Record, waiting: ApprovalRequired) -> CreateResponse:
    return CreateResponse(
        entry=record.entry(), status="pending_approval", approval_required=waiting
    )


def _hidden(request: CreateRequest) -> CreateRequest:
    """The same, for its owner alone."""
    options = request.options.model_copy(update={"access_policy": PRIVATE})
    return request.model_copy(update={"options": options})


def _check_layer(record: Record) -> None:
    if record.layer is Layer.WORKING:
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST,
            "Working memory is yours alone and short: nothing in it waits for approval. Leave "
            "governance out, or choose another layer.",
        )


def _decided() -> MemoryFailed:
    return MemoryFailed(ErrorCode.CONFLICT, "The request is decided already.")
