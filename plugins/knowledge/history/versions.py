"""The versions of documents' files, read where the notes come from, when somebody asks."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateway.repositories import Checkout, FileHistory, GitFailed, SourceFailed, local_history
from plugins.knowledge.notes.conversion import is_document
from plugins.knowledge.sync.sources import DirectorySource, NoteSource

MAX_VERSIONS = 30
"""How many commits of a document are looked at; each costs a request where GitHub tells them."""
MAX_KEPT_BYTES = 32 * 1024 * 1024
"""Bytes of versions that are kept in memory, since a commit never changes."""
_MAX_AT_ONCE = 2
"""How many histories are read at a time."""

ReadRemote = Callable[[str, int], Coroutine[Any, Any, FileHistory]]
"""``await read(path, most)``: the history of a source's file on GitHub."""


class NoHistory(Exception):
    """A document's history cannot be had; the text says why, and who can change that."""


@dataclass(slots=True)
class Versions:
    """Reads histories, and keeps what was read.

    Attributes:
        sources: where the notes come from.
        remote: what reads the histories of sources on GitHub, by their keys.
    """

    sources: Sequence[NoteSource] = ()
    remote: Mapping[str, ReadRemote] = field(default_factory=dict)
    _kept: OrderedDict[tuple[str, str, str], FileHistory] = field(default_factory=OrderedDict)
    _turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_MAX_AT_ONCE))

    async def of(self, path: str) -> tuple[NoteSource, FileHistory]:
        """The source of a document, and the history of its file, newest first.

        Args:
            path: the document's path.

        Raises:
            NoHistory: it cannot be had.
        """
        source = next((one for one in self.sources if path.startswith(one.prefix)), None)
        if source is None:
            raise NoHistory("Its source is not among those that the portal reads now.")
        if is_document(path):
            raise NoHistory("It is made of a file that is no Markdown; its versions are not read.")
        relative = path.removeprefix(source.prefix)
        async with self._turn:
            if isinstance(source, DirectorySource):
                return source, await self._local(source, relative)
            return source, await self._remote(source, relative)

    async def _local(self, source: DirectorySource, path: str) -> FileHistory:
        commit = await asyncio.to_thread(Checkout(source.directory).commit)
        if not commit:
            raise NoHistory("Its source is a directory without Git, which keeps no history.")
        if (kept := self._found(source, commit, path)) is not None:
            return kept
        try:
            found = await asyncio.to_thread(_read, source.directory, path, source.max_note)
        except GitFailed as failure:
            raise NoHistory(f"Git does not tell its history: {failure}.") from None
        return self._keep(source, commit, path, found)

    async def _remote(self, source: NoteSource, path: str) -> FileHistory:
        commit, read = source.scan().commit, self.remote.get(source.key)
        if read is None or not commit:
            raise NoHistory("Its source on GitHub was not read yet.")
        if (kept := self._found(source, commit, path)) is not None:
            return kept
        try:
            found = await read(path, MAX_VERSIONS)
        except SourceFailed as failure:
            raise NoHistory(f"GitHub does not tell its history now. {failure.message}") from None
        return self._keep(source, commit, path, found)

    def _found(self, source: NoteSource, commit: str, path: str) -> FileHistory | None:
        key = (source.key, commit, path)
        if (kept := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
        return kept

    def _keep(self, source: NoteSource, commit: str, path: str, found: FileHistory) -> FileHistory:
        self._kept[source.key, commit, path] = found
        while sum(map(_size, self._kept.values())) > MAX_KEPT_BYTES:
            self._kept.popitem(last=False)
        return found


def _read(directory: Path, path: str, largest: int) -> FileHistory:
    return local_history(directory, path, MAX_VERSIONS, largest)


def _size(found: FileHistory) -> int:
    return 1024 + sum(len(each.content or b"") for each in found.versions)
