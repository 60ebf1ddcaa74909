"""A repository reduced to the files that a source includes (``include``, ``exclude``).

The index and every read go through it, so an excluded file is found nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from gateway.repositories import (
    Entry,
    File,
    Known,
    NotModified,
    Place,
    Repository,
    RepositoryAround,
    SourceFailed,
)
from plugins.skills_repo.config import Source


def filter_repository(source: Source, repository: Repository) -> Repository:
    """The repository with only the source's files; the very same where the source takes all."""
    is_whole = not source.include and not source.exclude
    return repository if is_whole else FilteredRepository(source, repository)


def includes(source: Source, path: str) -> bool:
    """Whether a source takes a file.

    Args:
        source: the source.
        path: from the repository's root.
    """
    inside = path.removeprefix(f"{source.path}/") if source.path else path
    parts = inside.split("/")
    is_included = not source.include or _matches_any(parts, source.include)
    return is_included and not _matches_any(parts, source.exclude)


def _matches_any(parts: Sequence[str], globs: Sequence[str]) -> bool:
    return any(_matches(parts, glob.split("/")) for glob in globs)


def _matches(parts: Sequence[str], glob: Sequence[str]) -> bool:
    """Whether a path, or a folder that it is in, is what a glob means."""
    if not glob:
        return True
    first, rest = glob[0], glob[1:]
    if first == "**":
        return any(_matches(parts[skipped:], rest) for skipped in range(len(parts)))
    return bool(parts) and fnmatchcase(parts[0], first) and _matches(parts[1:], rest)


class FilteredRepository(RepositoryAround):
    """A repository without the files that a source leaves out (see :class:`Repository`).

    Args:
        source: says which files it takes.
        repository: the repository.
    """

    def __init__(self, source: Source, repository: Repository) -> None:
        super().__init__(repository)
        self._source = source

    async def read(
        self, path: str, credential: str | None = None, known: Known | None = None
    ) -> File | NotModified:
        """Read one file (see :class:`Repository`); one that is left out is not there, unasked."""
        if not self.has(path):
            message = f"There is no file {path} in {self.repo}."
            raise SourceFailed("NOT_FOUND", message, Place(self.repo, path, self.branch))
        return await super().read(path, credential, known)

    def shown(self, entry: Entry) -> Entry | None:
        """An entry that the source takes."""
        return entry if self.has(entry.path) else None

    def has(self, path: str) -> bool:
        """Whether the source takes a file."""
        return includes(self._source, path)
