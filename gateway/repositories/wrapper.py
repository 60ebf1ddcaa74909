"""A repository that is another one, shown differently: the base of what changes or leaves out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager

from gateway.repositories.protocol import (
    Entry,
    File,
    Known,
    LeftOut,
    NotModified,
    Repository,
    Snapshot,
)


class RepositoryAround:
    """Another repository (see :class:`Repository`); subclasses say what of it is another.

    Args:
        repository: the other one.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

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
            yield _SnapshotAround(self, snapshot)

    async def read(
        self, path: str, credential: str | None = None, known: Known | None = None
    ) -> File | NotModified:
        """Read one file (see :class:`Repository`)."""
        return await self._repository.read(path, credential, known)

    async def stamp(self, below: str = "") -> str | None:
        """What changes whenever a file does (see :class:`Repository`)."""
        return await self._repository.stamp(below)

    def shown(self, entry: Entry) -> Entry | None:
        """An entry of the tree as it is to be; None where it is left out."""
        return entry

    def has(self, path: str) -> bool:
        """Whether a file that could not be read is worth a word."""
        return True


class _SnapshotAround:
    def __init__(self, around: RepositoryAround, snapshot: Snapshot) -> None:
        self._around, self._snapshot = around, snapshot

    @property
    def commit(self) -> str | None:
        return self._snapshot.commit

    @property
    def left_out(self) -> Sequence[LeftOut]:
        return [each for each in self._snapshot.left_out if self._around.has(each.path)]

    async def files(self, below: str = "") -> AsyncGenerator[Entry]:
        async with aclosing(self._snapshot.files(below)) as found:
            async for entry in found:
                if (shown := self._around.shown(entry)) is not None:
                    yield shown
