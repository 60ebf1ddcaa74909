"""Reads one entry: its content, its metadata and its history (protocol, "Metadata")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.contract import Caller
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.query_context import EntrySource
from plugins.knowledge.memory.model.record import NOTE_PREFIX, Record
from plugins.knowledge.memory.model.responses import MetadataResponse, VersionSaid
from plugins.knowledge.memory.query.usage import Usage
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.rights.roles import Roles, require_role
from plugins.knowledge.memory.store.reads import Reads, Version


@dataclass(frozen=True, slots=True)
class EntryReader:
    """The operations that read one entry.

    Attributes:
        sources: where entries are read.
        reads: the database, for versions.
        usage: counts reads.
        roles: who may read at all.
        unfinished: what is said of notes while a part of the knowledge base is not indexed; else an
            empty text.
    """

    sources: Sequence[EntrySource]
    reads: Reads
    usage: Usage
    roles: Roles
    unfinished: Callable[[], str] = str

    async def entry(self, id: str, caller: Caller) -> Record:
        """An entry that a caller can read.

        Raises:
            MemoryFailed: the caller may not read, or there is none.
        """
        require_role(caller, self.roles.read, "read memory")
        held = caller_keys(caller)
        for source in self.sources:
            if record := (await source.read([id], held)).get(id):
                self.usage.count([id])
                return record
        message = "There is no such entry, or you may not read it."
        if id.startswith(NOTE_PREFIX):
            message = f"{message} {self.unfinished()}".strip()
        raise MemoryFailed(ErrorCode.NOT_FOUND, message)

    async def metadata(
        self, id: str, caller: Caller, *, include_custom: bool = True
    ) -> MetadataResponse:
        """All of an entry but its content, with who wrote the versions that the caller may read.

        Raises:
            MemoryFailed: there is none that the caller can read.
        """
        record = await self.entry(id, caller)
        said = record.metadata
        versions = await self._versions(record, caller)
        return MetadataResponse(
            entry_id=id,
            metadata=said if include_custom else said.model_copy(update={"custom": {}}),
            source=record.source,
            version_history=[
                VersionSaid(version=each.number, created_at=each.at, created_by=each.by)
                for each in versions
            ]
            or None,
        )

    async def history(self, id: str, caller: Caller) -> Sequence[Version]:
        """What an entry was, the newest version first: those that the caller may read.

        Working memory keeps the present one alone.

        Raises:
            MemoryFailed: there is none that the caller can read.
        """
        return await self._versions(await self.entry(id, caller), caller)

    async def _versions(self, record: Record, caller: Caller) -> Sequence[Version]:
        if record.layer is Layer.WORKING:
            return [Version(record.version, record.changed, record.owner, record.fields())]
        return await self.reads.versions(record.id, caller_keys(caller))
