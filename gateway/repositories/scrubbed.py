"""A repository as it is without its secrets: what is read of it has its own size and digest."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import replace

from gateway.repositories.protocol import (
    Entry,
    File,
    Known,
    LeftOut,
    NotModified,
    Repository,
    Snapshot,
)

Clean = Callable[[bytes, str], bytes]
"""``clean(content, path)``: a file's bytes without secrets, the same object where it has none."""


class ScrubbedRepository:
    """A repository whose files come without their secrets (see :class:`Repository`).

    The ids of blobs stay those of Git: they name what the files are made from.

    Args:
        repository: the repository.
        clean: takes the secrets out of a file.
    """

    def __init__(self, repository: Repository, clean: Clean) -> None:
        self._repository, self._clean = repository, clean

    @property
    def repo(self) -> str:
        """How errors name it."""
        return self._repository.repo

    @property
    def branch(self) -> str | None:
        """Its branch, or None for a directory as it lies there."""
        return self._repository.branch

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]:
        """Open the whole tree (see :class:`Repository`)."""
        return self._snapshot()

    @asynccontextmanager
    async def _snapshot(self) -> AsyncGenerator[Snapshot]:
        async with self._repository.snapshot() as snapshot:
            yield _Scrubbed(snapshot, self._clean)

    async def read(
        self, path: str, credential: str | None = None, known: Known | None = None
    ) -> File | NotModified:
        """Read one file (see :class:`Repository`)."""
        found = await self._repository.read(path, credential, known)
        if isinstance(found, NotModified):
            return found
        return replace(found, content=self._clean(found.content, path))

    async def stamp(self, below: str = "") -> str | None:
        """What changes whenever a file does (see :class:`Repository`)."""
        return await self._repository.stamp(below)


class _Scrubbed:
    def __init__(self, snapshot: Snapshot, clean: Clean) -> None:
        self._snapshot, self._clean = snapshot, clean

    @property
    def commit(self) -> str | None:
        return self._snapshot.commit

    @property
    def left_out(self) -> Sequence[LeftOut]:
        return self._snapshot.left_out

    async def files(self, below: str = "") -> AsyncGenerator[Entry]:
        async with aclosing(self._snapshot.files(below)) as found:
            async for entry in found:
                yield self._cleaned(entry)

    def _cleaned(self, entry: Entry) -> Entry:
        if entry.content is None:
            return entry
        content = self._clean(entry.content, entry.path)
        if content is entry.content:
            return entry
        digest = hashlib.sha256(content).hexdigest()
        return replace(entry, content=content, size=len(content), digest=digest)
