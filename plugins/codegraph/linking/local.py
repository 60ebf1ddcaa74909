"""Linking a whole repository in memory: for tests, benchmarks and small trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from posixpath import basename, dirname

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.languages.registry import language_of, manifest_patterns
from plugins.codegraph.linking.entities import entities_of
from plugins.codegraph.linking.linker import Linker
from plugins.codegraph.model import Edge, Entity, FileReport, Unresolved


@dataclass(slots=True)
class LinkedRepo:
    """All that is known of a repository.

    Attributes:
        entities: sorted by path, in the order of the text.
        edges: sorted by the path that says so.
        unresolved: likewise.
        reports: one a file.
    """

    entities: list[Entity] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    unresolved: list[Unresolved] = field(default_factory=list)
    reports: list[FileReport] = field(default_factory=list)


class MemoryWorld:
    """A :class:`~plugins.codegraph.linking.world.World` over facts that are held in memory.

    Args:
        repo: the repository's id.
        facts: what each file says, by path.
        manifests: the bytes of the manifests, by path.
    """

    def __init__(
        self, repo: str, facts: Mapping[str, FileFacts], manifests: Mapping[str, bytes]
    ) -> None:
        self._repo = repo
        self._facts = facts
        self._manifests = manifests

    @property
    def repo(self) -> str:
        """The repository's id."""
        return self._repo

    def facts(self, path: str) -> FileFacts | None:
        """What a file says."""
        return self._facts.get(path)

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return path in self._facts

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
        for path in sorted(self._facts):
            found.setdefault(dirname(path), []).append(path)
        return found

    @cached_property
    def _packages(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for path in sorted(self._facts):
            facts = self._facts[path]
            if facts.package:
                found.setdefault((facts.language, facts.package), []).append(path)
        return found


def parse_tree(files: Mapping[str, bytes]) -> tuple[dict[str, FileFacts], dict[str, bytes]]:
    """Read all files of known languages.

    Args:
        files: their bytes, by path.

    Returns:
        The facts by path, and the manifests among the files.
    """
    facts: dict[str, FileFacts] = {}
    manifests: dict[str, bytes] = {}
    patterns = manifest_patterns()
    for path in sorted(files):
        language = language_of(path)
        if language is not None:
            facts[path] = language.parse(path, files[path])
        if any(fnmatchcase(basename(path), pattern) for pattern in patterns):
            manifests[path] = files[path]
    return facts, manifests


def link_tree(repo: str, files: Mapping[str, bytes]) -> LinkedRepo:
    """Parse and link all files.

    Args:
        repo: the repository's id.
        files: their bytes, by path from the repository's root.

    Returns:
        The graph.
    """
    facts, manifests = parse_tree(files)
    linker = Linker(MemoryWorld(repo, facts, manifests))
    linked = LinkedRepo()
    for path in sorted(facts):
        found = facts[path]
        linked.entities += entities_of(repo, path, found)
        result = linker.link(path)
        linked.edges += result.edges
        linked.unresolved += result.unresolved
        linked.reports.append(
            FileReport(path, "", found.language, found.lines, len(files[path]), found.problem)
        )
    return linked
