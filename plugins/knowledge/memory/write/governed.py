"""The operations that write, where rules or requests want a person's approval first (protocol,
"governance"; README, "Approval").

A person in front of the client is asked at once, where the client can ask; else the write waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gateway.contract import Caller
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import (
    PRIVATE,
    AccessPolicy,
    AccessPolicyConfig,
    person_key,
)
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.requests import (
    CreateRequest,
    DeleteRequest,
    RelationDraft,
    UpdateRequest,
)
from plugins.knowledge.memory.model.responses import (
    CreateResponse,
    DeleteResponse,
    RelationResponse,
)
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.rights.approval_rules import Agreement, ApprovalNeeded, widens_readers
from plugins.knowledge.memory.rights.delegation import DelegatedRights
from plugins.knowledge.memory.rights.recipients import Recipients
from plugins.knowledge.memory.rights.roles import require_role
from plugins.knowledge.memory.store.approvals import Approval, ApprovalPayload
from plugins.knowledge.memory.store.audit import AuditRecord
from plugins.knowledge.memory.write.approval_requests import check_decidable, complete_update
from plugins.knowledge.memory.write.approvals import Approvals
from plugins.knowledge.memory.write.consent import Answer, Consent, excerpt
from plugins.knowledge.memory.write.drafts import new_record, requested_access
from plugins.knowledge.memory.write.entries import Entries
from plugins.knowledge.memory.write.relations import Related, is_seen_by_others
from plugins.knowledge.memory.write.removals import removable

WriteRequest = TypeVar("WriteRequest", bound=CreateRequest)

_READERS_IN_WORDS = {
    AccessPolicy.PRIVATE: "you alone",
    AccessPolicy.RESTRICTED: "the people it names",
    AccessPolicy.SHARED: "the groups it names",
    AccessPolicy.ORGANIZATION: "all members",
    AccessPolicy.PUBLIC: "everyone who is signed in",
}


_FORGOTTEN_ALREADY = (
    "It is forgotten: nobody can read it to allow that it is erased. It is gone for good 30 days "
    "after it was forgotten."
)


@dataclass(frozen=True, slots=True)
class _Question:
    """What the person in front of a client is asked.

    Attributes:
        words: the question.
        record: the entry as it would be, or as it is where it is to be removed.
        operation: what would be done to which version, to tell one question from another.
        request: the request as JSON, likewise.
        more: what else it would change, in words.
    """

    words: str
    record: Record
    operation: str
    request: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class GovernedEntries:
    """The operations that write; some writes wait for a person.

    Attributes:
        entries: the same operations, without approval.
        approvals: the requests that wait.
        recipients: resolves the people and groups that a policy names.
    """

    entries: Entries
    approvals: Approvals
    recipients: Recipients

    async def create(
        self,
        request: CreateRequest,
        caller: Caller,
        consent: Consent | None = None,
        id: str | None = None,
        after: str | None = None,
        turn: str | None = None,
    ) -> CreateResponse:
        """Add an entry, or request it.

        An entry that has yet to be verified is kept for its owner alone until then.

        Args:
            request: the entry, and how it is kept.
            caller: the person who asks.
            consent: asks the caller in their client; None where nobody can be asked.
            id: the id that the entry gets; a new one where none is given.
            after: as in :meth:`Entries.create`; what a person has to allow is no turn.
            turn: likewise.

        Raises:
            MemoryFailed: as :meth:`Entries.create`.
        """
        person = require_role(caller, self.entries.roles.write, "write to memory")
        request = await self._with_recipients(request, caller)
        record = new_record(request, caller, person, self.entries.clock())
        record = record if id is None else replace(record, id=id)
        related = await self.entries.relations.targets(record, request.entry.relations, caller)
        ends = is_seen_by_others(record, related, person)
        if not (ends or self._needs_approval(record, request)):
            return await self.entries.create(request, caller, id, after=after, turn=turn)
        _check_layer(record)
        verify = request.governance.verification_required
        agreement = Agreement(record.readers)
        asked, more = request.model_dump_json(), instead_of(related)
        question = _Question(_in_words("Keep", record), record, "create", asked, more)
        if not verify and await self._consented(consent, question, person):
            return await self.entries.create(request, caller, record.id, agreement)
        if verify:
            return await self._create_unverified(request, caller, id, agreement)
        payload = ApprovalPayload(
            readers=sorted(record.readers),
            request=request.model_dump(mode="json", exclude_unset=True),
            asker=DelegatedRights.of(caller),
        )
        waiting = await self.approvals.request("create", record.id, payload, caller)
        return _waiting(replace(record, id=waiting.entry), waiting)

    async def _create_unverified(
        self, request: CreateRequest, caller: Caller, id: str | None, agreement: Agreement
    ) -> CreateResponse:
        """Add an entry for its owner alone, and request its verification for the others."""
        check_decidable(caller, agreement.readers)
        made = await self.entries.create(_for_owner(request), caller, id, agreement)
        payload = ApprovalPayload(
            readers=sorted(agreement.readers),
            version=made.entry.version,
            access=requested_access(request),
            request={"entry": {"content": made.entry.content}},
            asker=DelegatedRights.of(caller),
        )
        waiting = await self.approvals.request("verify", made.entry.id, payload, caller)
        update = {"status": "pending_approval", "approval_required": waiting.required()}
        return made.model_copy(update=update)

    async def update(
        self, id: str, request: UpdateRequest, caller: Caller, consent: Consent | None = None
    ) -> CreateResponse:
        """Write a new version of an entry, or request it; the current one stands until then.

        Args:
            id: the entry's.
            request: the new version.
            caller: the person who asks.
            consent: asks the caller in their client; None where nobody can be asked.

        Raises:
            MemoryFailed: as :meth:`Entries.update`.
        """
        person = require_role(caller, self.entries.roles.write, "write to memory")
        current = await self.entries.found(id, caller)
        self.entries.check_change(current, request, caller)
        request = await self._with_recipients(request, caller, current.access)
        wanted = await self.entries.wanted(current, request, caller)
        if not self._needs_approval(wanted, request):
            try:
                return await self.entries.update(id, request, caller, seen=current)
            except ApprovalNeeded as stopped:  # somebody opened the entry in this moment
                current, wanted = stopped.current or current, stopped.wanted
        _check_layer(current)
        agreement = Agreement(wanted.readers, current.version)
        operation = f"update {id} {current.version}"
        asked = request.model_dump_json()
        opens = widens_readers(current, wanted)
        more = await self._shown_to_end(id, caller) if opens else ""
        question = _Question(_in_words("Change", wanted), wanted, operation, asked, more)
        verify = request.governance.verification_required
        if not verify and await self._consented(consent, question, person):
            return await self.entries.update(id, request, caller, agreement)
        payload = ApprovalPayload(
            readers=sorted(wanted.readers),
            opens=opens,
            version=current.version,
            request=complete_update(request, current, wanted),
            asker=DelegatedRights.of(caller),
        )
        current_readers = None if opens else current.readers
        waiting = await self.approvals.request(
            "update", id, payload, caller, current_readers=current_readers
        )
        return _waiting(current, waiting)

    async def delete(
        self, request: DeleteRequest, caller: Caller, consent: Consent | None = None
    ) -> DeleteResponse:
        """Remove an entry, or request it; the entry stays until then.

        Args:
            request: the entry, and how it is removed.
            caller: the person who asks.
            consent: asks the caller in their client; None where nobody can be asked.

        Raises:
            MemoryFailed: as :meth:`Entries.delete`.
        """
        person = require_role(caller, self.entries.roles.delete, "remove from memory")
        current, forgotten = await removable(self.entries, request, caller)
        governance, hard = request.options.governance, request.options.hard_delete
        has_other_readers = bool(current.readers - {person_key(person)})
        ruled = hard and has_other_readers and self.entries.rules.hard_deletes
        if not (governance.require_approval or ruled):
            return await self.entries.delete(request, caller)
        if forgotten:
            raise MemoryFailed(ErrorCode.GOVERNANCE_DENIED, _FORGOTTEN_ALREADY)
        _check_layer(current)
        operation = f"delete {current.version}"
        asked = request.model_dump_json()
        question = _Question(_in_words("Remove", current), current, operation, asked)
        if await self._consented(consent, question, person):
            return await self.entries.delete(request, caller)
        payload = ApprovalPayload(readers=sorted(current.readers), asker=DelegatedRights.of(caller))
        waiting = await self.approvals.request(
            "erase" if hard else "delete", current.id, payload, caller, reason=governance.reason
        )
        required = waiting.required()
        return DeleteResponse(deleted=False, entry_id=current.id, approval_required=required)

    async def relate(
        self, id: str, draft: RelationDraft, caller: Caller, consent: Consent | None = None
    ) -> RelationResponse:
        """Say how an entry goes together with an earlier one, or request it.

        A person's yes decides where others would read that the earlier one holds no more, or that
        it does again.

        Args:
            id: the later entry's.
            draft: the earlier one, and how.
            caller: the person who asks.
            consent: asks the caller in their client; None where nobody can be asked.

        Raises:
            MemoryFailed: as :meth:`Entries.relate`.
        """
        person = require_role(caller, self.entries.roles.write, "write to memory")
        record = await self.entries.found(id, caller)
        done = RelationResponse(entry_id=id, target=draft.target, kind=draft.kind, status="done")
        try:
            await self.entries.relate(record, draft, caller)
            return done
        except ApprovalNeeded:
            related = await self.entries.relations.targets(record, [draft], caller)
        agreement = Agreement(record.readers, record.version)
        operation = f"relate {id} {record.version}"
        more = _changed_by(related)
        asked = draft.model_dump_json()
        question = _Question("Does this hold now?", record, operation, asked, more)
        if await self._consented(consent, question, person):
            await self.entries.relate(record, draft, caller, agreement)
            return done
        target, _ = related[0]
        payload = ApprovalPayload(
            readers=sorted(target.readers),
            version=record.version,
            request={"relation": draft.model_dump(mode="json")},
            asker=DelegatedRights.of(caller),
        )
        waiting = await self.approvals.request(
            "relate", id, payload, caller, current_readers=record.readers
        )
        update = {"status": "pending_approval", "approval_required": waiting.required()}
        return done.model_copy(update=update)

    async def _shown_to_end(self, id: str, caller: Caller) -> str:
        """What an entry ends that is opened to more people, for the person who is asked."""
        held = caller_keys(caller)
        ended = await self.entries.relations.store.ended_by(id)
        return _ended_in_words(each for each in ended if not held.isdisjoint(each.readers))

    def _needs_approval(self, record: Record, request: CreateRequest) -> bool:
        governance = request.governance
        asked = governance.require_approval or governance.verification_required
        return asked or self.entries.rules.requires_approval(record)

    async def _with_recipients(
        self, request: WriteRequest, caller: Caller, kept: AccessPolicyConfig | None = None
    ) -> WriteRequest:
        """The request, its policy naming people and groups by their keys.

        Raises:
            MemoryFailed: the policy names somebody unknown.
        """
        access = request.options.access_policy
        if access is None or access == kept:
            return request
        resolved = await self.recipients.resolve(access, caller, kept)
        options = request.options.model_copy(update={"access_policy": resolved})
        return request.model_copy(update={"options": options})

    async def _consented(self, consent: Consent | None, asked: _Question, person: str) -> bool:
        """Whether the person says yes in their client; false where they are not asked.

        Raises:
            MemoryFailed: they say no.
        """
        if consent is None:
            return False
        record = asked.record
        answer = await consent(
            f"{asked.words}\n\n{excerpt(record.content)}{asked.more}",
            f"{person}\n{asked.operation}\n{asked.request}",
        )
        if answer is Answer.NONE:
            return False
        outcome = "done" if answer is Answer.AGREED else "refused"
        await self.entries.audit.add(AuditRecord(person, "approve", record.id, outcome))
        if answer is Answer.REFUSED:
            raise MemoryFailed(
                ErrorCode.GOVERNANCE_DENIED, "The person said no. Do not ask for it again."
            )
        return True


def _in_words(verb: str, record: Record) -> str:
    """What a person is asked before something is done to an entry."""
    return f"{verb} this in memory, for {_READERS_IN_WORDS[record.access.policy]} to read?"


def _waiting(record: Record, waiting: Approval) -> CreateResponse:
    required = waiting.required()
    return CreateResponse(
        entry=record.entry(), status="pending_approval", approval_required=required
    )


def instead_of(related: Sequence[Related]) -> str:
    """What a write would end, for the person who is asked."""
    return _ended_in_words(target for target, kind in related if kind.ends_the_other)


def _ended_in_words(ended: Iterable[Record]) -> str:
    return "".join(
        f"\n\nFrom then on this holds no more:\n{excerpt(each.content)}" for each in ended
    )


def _changed_by(related: Sequence[Related]) -> str:
    """What a decision between two kept entries would change, likewise."""
    (target, _), *_ = related
    beside = f"\n\nFrom then on neither of the two ends the other:\n{excerpt(target.content)}"
    return instead_of(related) or beside


def _for_owner(request: CreateRequest) -> CreateRequest:
    """The same request, for its owner alone."""
    options = request.options.model_copy(update={"access_policy": PRIVATE})
    return request.model_copy(update={"options": options})


def _check_layer(record: Record) -> None:
    if record.layer is Layer.WORKING:
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST,
            "Working memory is yours alone and short: nothing in it waits for approval. Leave "
            "governance out, or choose another layer.",
        )
