"""Reads one entry: itself, what is said about it, and what it was (protocol, "Metadata")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.contract import Caller
from plugins.knowledge.memory.access import keys
from plugins.knowledge.memory.asking import Shelf
from plugins.knowledge.memory.failures import ErrorCode, MemoryFailed
from plugins.knowledge.memory.records import Record
from plugins.knowledge.memory.responses import MetadataResponse, VersionSaid
from plugins.knowledge.memory.roles import Roles, demand
from plugins.knowledge.memory.store.reading import Reading, Version
from plugins.knowledge.memory.usage import Usage


@dataclass(frozen=True, slots=True)
class Looking:
    """The operations that read one entry.

    Attributes:
        shelves: where entries are read.
        reading: the database, for versions.
        usage: counts reads.
        roles: who may read at all.
    """

    shelves: Sequence[Shelf]
    reading: Reading
    usage: Usage
    roles: Roles

    async def entry(self, id: str, caller: Caller) -> Record:
        """An entry that a caller can read.

        Raises:
            MemoryFailed: the caller may not read, or there is none.
        """
        demand(caller, self.roles.read, "read memory")
        held = keys(caller)
        for shelf in self.shelves:
            if record := (await shelf.read([id], held)).get(id):
                self.usage.count([id])
                return record
        raise MemoryFailed(ErrorCode.NOT_FOUND, "There is no such entry, or you may not read it.")

    async def metadata(
        self, id: str, caller: Caller, *, include_custom: bool = True
    ) -> MetadataResponse:
        """All of an entry but its content, with who wrote the versions that the caller may read.

        Raises:
            MemoryFailed: there is none that the caller can read.
        """
        record = await self.entry(id, caller)
        said = record.metadata
        versions = await self.reading.versions(id, keys(caller))
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

        Raises:
            MemoryFailed: there is none that the caller can read.
        """
        await self.entry(id, caller)
        return await self.reading.versions(id, keys(caller))
