"""Linking a whole repository in memory: for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from posixpath import basename

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.languages.identifiers import with_words
from plugins.codegraph.languages.registry import language_of, manifest_patterns
from plugins.codegraph.languages.url_paths import with_url_paths
from plugins.codegraph.linker.entities import entities_of
from plugins.codegraph.linker.files import Files
from plugins.codegraph.linker.linker import Linker
from plugins.codegraph.model import Edge, Endpoint, Entity, FileReport, Mention, Unresolved


@dataclass(slots=True)
class LinkedRepo:
    """All that is known of a repository.

    Attributes:
        entities: sorted by path, in the order of the text.
        edges: sorted by the path that says so.
        unresolved: likewise.
        reports: one a file.
        mentions: names that no definition and no edge accounts for, likewise.
        endpoints: routes and requests, likewise.
    """

    entities: list[Entity] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    unresolved: list[Unresolved] = field(default_factory=list)
    reports: list[FileReport] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    endpoints: list[Endpoint] = field(default_factory=list)


class InMemoryView(Files[FileFacts]):
    """A repository as the linker sees it, with all of its facts in memory."""

    def facts(self, path: str) -> FileFacts | None:
        """What a file says."""
        return self._files.get(path)


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
            found = with_words(language.parse(path, files[path]), files[path])
            facts[path] = with_url_paths(found, files[path])
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
    linker = Linker(InMemoryView(repo, facts, manifests))
    linked = LinkedRepo()
    for path in sorted(facts):
        found = facts[path]
        linked.entities += entities_of(repo, path, found)
        result = linker.link(path)
        linked.edges += result.edges
        linked.unresolved += result.unresolved
        linked.mentions += result.mentions
        linked.endpoints += result.endpoints
        linked.reports.append(
            FileReport(path, "", found.language, found.lines, len(files[path]), found.problem)
        )
    return linked
