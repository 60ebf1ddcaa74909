"""That somebody looked whether an entry still holds, and against what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gateway.contract import Caller
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.query_context import EntrySource
from plugins.knowledge.memory.model.record import NOTE_PREFIX, Record
from plugins.knowledge.memory.model.responses import VerificationResponse
from plugins.knowledge.memory.model.validity import Verification
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.rights.roles import has_role, may_change, require_role
from plugins.knowledge.memory.store.audit import AuditRecord
from plugins.knowledge.memory.write.entries import Entries


@dataclass(frozen=True, slots=True)
class Verifications:
    """Writes down who verified what.

    Attributes:
        entries: the operations that write.
        notes: the knowledge base, which an entry may be verified against.
        unfinished: what is said of it while a part is not indexed; else an empty text.
    """

    entries: Entries
    notes: EntrySource
    unfinished: Callable[[], str] = str

    async def __call__(
        self, id: str, caller: Caller, against: str | None = None
    ) -> VerificationResponse:
        """Say that an entry still holds.

        Args:
            id: the entry's.
            caller: the person who looked.
            against: what they compared it with; a note of the knowledge base by its id.

        Raises:
            MemoryFailed: there is no such entry or note for them, they may not, or the entry was
                changed in this moment.
        """
        person = require_role(caller, self.entries.roles.write, "verify an entry")
        record = await self.entries.found(id, caller)
        if not (may_change(caller, record) or has_role(caller, self.entries.roles.approve)):
            message = "To verify an entry takes its owner, or one who may approve changes."
            raise MemoryFailed(ErrorCode.FORBIDDEN, message)
        note = await self._note(against, caller)
        verified = Verification(
            at=self.entries.clock(),
            by=person,
            against=against,
            version=None if note is None else note.state,
            digest=None if note is None else note.digest,
        )
        writes = self.entries.audited(AuditRecord(person, "verify", id, "done"))
        if not await writes.verify(id, record.version, verified):
            message = "The entry was changed in this moment. Read it again."
            raise MemoryFailed(ErrorCode.CONFLICT, message)
        return VerificationResponse(entry_id=id, verified=verified)

    async def _note(self, against: str | None, caller: Caller) -> Record | None:
        if against is None or not against.startswith(NOTE_PREFIX):
            return None
        note = (await self.notes.read([against], caller_keys(caller))).get(against)
        if note is None:
            message = (
                f"There is no note {against} that you may read. Leave it out, or name another."
                f" {self.unfinished()}"
            )
            raise MemoryFailed(ErrorCode.NOT_FOUND, message.strip())
        return note
