"""A repository of which only the files are there that a source chooses (``include``, ``exclude``).

The index and every read go through it, so that what is left out is nowhere, also where it is newer
than the index.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from fnmatch import fnmatchcase

from gateway.repositories import (
    Entry,
    File,
    Known,
    LeftOut,
    NotModified,
    Place,
    Repository,
    Snapshot,
    SourceFailed,
)
from plugins.skills_repo.config import Source


def chosen(source: Source, repository: Repository) -> Repository:
    """The repository as a source chooses from it; itself where the source takes everything."""
    is_whole = not source.include and not source.exclude
    return repository if is_whole else ChosenRepository(source, repository)


def takes(source: Source, path: str) -> bool:
    """Whether a source takes a file.

    Args:
        source: the source.
        path: from the repository's root.
    """
    inside = path.removeprefix(f"{source.path}/") if source.path else path
    parts = inside.split("/")
    is_included = not source.include or _any(parts, source.include)
    return is_included and not _any(parts, source.exclude)


def _any(parts: Sequence[str], globs: Sequence[str]) -> bool:
    return any(_matches(parts, glob.split("/")) for glob in globs)


def _matches(parts: Sequence[str], glob: Sequence[str]) -> bool:
    """Whether a path, or a folder that it is in, is what a glob means."""
    if not glob:
        return True
    first, rest = glob[0], glob[1:]
    if first == "**":
        return any(_matches(parts[skipped:], rest) for skipped in range(len(parts)))
    return bool(parts) and fnmatchcase(parts[0], first) and _matches(parts[1:], rest)


class ChosenRepository:
    """A repository without the files that a source leaves out (see :class:`Repository`).

    Args:
        source: says which files it takes.
        repository: the repository.
    """

    def __init__(self, source: Source, repository: Repository) -> None:
        self._source, self._repository = source, repository

    @property
    def repo(self) -> str:
        """How errors name it."""
        return self._repository.repo

    @property
    def branch(self) -> str | None:
        """Its branch, or None for a directory as it lies there."""
        return self._repository.branch

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]:
        """Open the tree (see :class:`Repository`)."""
        return self._snapshot()

    @asynccontextmanager
    async def _snapshot(self) -> AsyncGenerator[Snapshot]:
        async with self._repository.snapshot() as snapshot:
            yield _Chosen(self._source, snapshot)

    async def read(
        self, path: str, credential: str | None = None, known: Known | None = None
    ) -> File | NotModified:
        """Read one file (see :class:`Repository`); one that is left out is not there, unasked."""
        if not takes(self._source, path):
            message = f"There is no file {path} in {self.repo}."
            raise SourceFailed("NOT_FOUND", message, Place(self.repo, path, self.branch))
        return await self._repository.read(path, credential, known)

    async def stamp(self, below: str = "") -> str | None:
        """What changes whenever a file does (see :class:`Repository`)."""
        return await self._repository.stamp(below)


class _Chosen:
    def __init__(self, source: Source, snapshot: Snapshot) -> None:
        self._source, self._snapshot = source, snapshot

    @property
    def commit(self) -> str | None:
        return self._snapshot.commit

    @property
    def left_out(self) -> Sequence[LeftOut]:
        return [each for each in self._snapshot.left_out if takes(self._source, each.path)]

    async def files(self, below: str = "") -> AsyncGenerator[Entry]:
        async with aclosing(self._snapshot.files(below)) as found:
            async for entry in found:
                if takes(self._source, entry.path):
                    yield entry
