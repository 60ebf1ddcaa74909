"""A repository as the linker sees it, over the facts on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from posixpath import basename, dirname

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.indexing.cache import FactsCache, Key
from plugins.codegraph.indexing.said import facts_in, unpacked
from plugins.codegraph.indexing.snapshot import Known, Snapshot


class RecentFacts:
    """Facts as they were decoded last, over a cache: the next snapshot asks for most of them again.

    Args:
        cache: holds all of them.
        lines: of how many lines at most they are kept; the linker holds what it needs besides.
    """

    def __init__(self, cache: FactsCache, lines: int = 60_000) -> None:
        self.cache, self._most = cache, lines
        self._lines = 0
        self._kept: dict[Key, FileFacts] = {}

    def get(self, key: Key) -> FileFacts | None:
        """What the file with these bytes says, or None where that is not known."""
        facts = self._kept.pop(key, None)
        if facts is None:
            data = self.cache.get(key)
            if data is None:
                return None
            facts = facts_in(unpacked(data))
            self._lines += facts.lines
        self._kept[key] = facts
        while self._lines > self._most and self._kept:
            self._lines -= self._kept.pop(next(iter(self._kept))).lines
        return facts


class SnapshotWorld:
    """A :class:`~plugins.codegraph.linking.world.World` of one snapshot.

    Args:
        snapshot: the state of the files.
        recent: gives their facts.
    """

    def __init__(self, snapshot: Snapshot, recent: RecentFacts) -> None:
        self._snapshot, self._recent = snapshot, recent
        self._files: Mapping[str, Known] = snapshot.files
        self._manifests = {each.path: each.data for each in snapshot.manifests}

    @property
    def repo(self) -> str:
        """The repository's id."""
        return self._snapshot.repo

    def facts(self, path: str) -> FileFacts | None:
        """What a file says.

        Raises:
            LookupError: it is known, and its facts are not there.
        """
        known = self._files.get(path)
        if known is None:
            return None
        facts = self._recent.get((known.digest, known.reader))
        if facts is None:
            raise LookupError(f"The facts of {path} are gone. Index the repository again.")
        return facts

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return path in self._files

    def directory(self, path: str) -> Sequence[str]:
        """The files directly in a directory."""
        return self._directories.get(path, ())

    def packaged(self, language: str, package: str) -> Sequence[str]:
        """The files that declare a package."""
        return self._packages.get((language, package), ())

    def manifests(self, name: str) -> Sequence[str]:
        """The manifests with this name or pattern."""
        found = [path for path in self._manifests if fnmatchcase(basename(path), name)]
        return sorted(found, key=lambda path: (path.count("/"), len(path), path))

    def read(self, path: str) -> bytes | None:
        """The bytes of a manifest."""
        return self._manifests.get(path)

    @cached_property
    def _directories(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self._files):
            found.setdefault(dirname(path), []).append(path)
        return found

    @cached_property
    def _packages(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for path in sorted(self._files):
            known = self._files[path]
            if known.package:
                found.setdefault((known.language, known.package), []).append(path)
        return found
