"""Conversions between rows of the graph and the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from plugins.codegraph.model import (
    CONFIDENCE,
    Edge,
    Endpoint,
    Entity,
    FileReport,
    Mention,
    Unresolved,
)
from plugins.codegraph.store.codes import (
    ENTITY_CODES,
    ENTITY_KINDS,
    STRATEGIES,
    STRATEGY_CODES,
    edge_code,
)
from plugins.codegraph.store.name_split import words_of

ENTITY_COLUMNS = (
    *("id", "layer", "org", "repo", "key", "kind", "name", "qualified", "path", "language"),
    *("line", "end_line", "signature", "doc", "exported", "test", "parent", "words"),
)
EDGE_COLUMNS = (*("layer", "source", "kind", "target", "org", "repo", "line", "strategy", "sites"),)
UNRESOLVED_COLUMNS = ("layer", "path", "name", "org", "repo", "line", "sites")
ENDPOINT_COLUMNS = (
    *("layer", "path", "line", "entity", "serves", "method", "template", "host", "org", "repo"),
)
LINK_COLUMNS = ("layer", "path", "org", "repo", "interface", "package", "asked")
MANIFEST_COLUMNS = ("layer", "path", "org", "repo", "digest", "data")
FILE_COLUMNS = (
    *("layer", "path", "org", "repo", "digest", "language", "lines", "size", "mtime", "inode"),
    *("problem", "skipped", "gone", "secrets"),
)

EdgeRow = tuple[int, int, int, int, int, int]
"""An edge as numbers: source, kind, target, line, strategy, sites."""


class FileGraph(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Everything that a layer stores about one file; written and deleted as a whole.

    Attributes:
        report: the file's report.
        mtime, inode: its modification time (nanoseconds) and inode when it was read.
        entities: its entities, the file itself included.
        edges: those that start in it.
        unresolved: its calls whose target is unknown.
        interface: its interface digest (``linker/digest.py``).
        package: the package that it declares, or "".
        asked: what linking it depended on, packed (``indexer/dependencies.py``).
        mentions: names in it that no definition and no edge accounts for.
        gone: whether an overlay deletes the base's file.
        endpoints: the routes and the requests in it.
    """

    report: FileReport
    mtime: int = 0
    inode: int = 0
    entities: Sequence[Entity] = ()
    edges: Sequence[Edge] = ()
    unresolved: Sequence[Unresolved] = ()
    interface: str = ""
    package: str = ""
    asked: bytes = b""
    gone: bool = False
    mentions: Sequence[Mention] = ()
    endpoints: Sequence[Endpoint] = ()

    @property
    def size(self) -> int:
        """The number of its rows, without edges."""
        named = len(self.unresolved) + len(self.mentions)
        return 2 + len(self.entities) + named + len(self.endpoints)


class Manifest(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A manifest with the digest of its bytes."""

    path: str
    digest: str
    data: bytes


def entity_of(row: Sequence[Any]) -> Entity:
    """The entity from a row that begins with the columns ``SELECTED``."""
    values: list[Any] = list(row[:13])
    values[1] = ENTITY_KINDS[values[1]]
    values[10], values[12] = bool(values[10]), bool(values[12])
    return Entity(*values)


def report_of(row: Sequence[Any]) -> FileReport:
    """The report from a row that begins with the columns ``REPORTED``."""
    path, digest, language, lines, size, problem, skipped, secrets = row[:8]
    return FileReport(path, digest, language, lines, size, problem, bool(skipped), secrets)


def entity_rows(
    layer: int, org: str, repo: str, first: int, found: Iterable[Entity]
) -> list[tuple[Any, ...]]:
    """Rows of entities, with ids counted from ``first``."""
    return [
        (
            *(number, layer, org, repo, each.key, ENTITY_CODES[each.kind], _clean(each.name)),
            *(_clean(each.qualified), each.path, each.language, each.line, each.end_line),
            *(_clean(each.signature), _clean(each.doc), each.exported, each.test, each.parent),
            words_of(each),
        )
        for number, each in enumerate(found, start=first)
    ]


def merged_edges(found: Iterable[Edge]) -> list[EdgeRow]:
    """Edges as numbers; duplicates are merged, with the most certain strategy."""
    merged: dict[tuple[int, int, int], tuple[int, int, int]] = {}
    for each in found:
        key = (each.source, edge_code(each.kind, each.sort), each.target)
        new = (each.line, STRATEGY_CODES[each.strategy], each.sites)
        old = merged.get(key)
        merged[key] = new if old is None else _both(old, new)
    return [(*key, *rest) for key, rest in merged.items()]


def edge_rows(layer: int, org: str, repo: str, found: Iterable[EdgeRow]) -> list[tuple[Any, ...]]:
    """Rows of edges."""
    return [
        (layer, source, kind, target, org, repo, line, strategy, sites)
        for source, kind, target, line, strategy, sites in found
    ]


def _both(old: tuple[int, int, int], new: tuple[int, int, int]) -> tuple[int, int, int]:
    surest = max(old[1], new[1], key=lambda code: (CONFIDENCE[STRATEGIES[code]], -code))
    return min(old[0], new[0]), surest, old[2] + new[2]


def named_rows(
    layer: int, org: str, repo: str, found: Iterable[Unresolved | Mention]
) -> list[tuple[Any, ...]]:
    """Rows of unresolved calls or mentions: one per file and name."""
    merged: dict[tuple[str, str], tuple[int, int]] = {}
    for each in found:
        key = (each.path, _clean(each.name))
        line, sites = merged.get(key, (each.line, 0))
        merged[key] = (min(line, each.line), sites + each.sites)
    return [(layer, *key, org, repo, *rest) for key, rest in merged.items()]


def endpoint_rows(
    layer: int, org: str, repo: str, found: Iterable[Endpoint]
) -> list[tuple[Any, ...]]:
    """Rows of routes and requests."""
    return [
        (
            *(layer, each.path, each.line, each.entity, each.serves, each.method),
            *(_clean(each.template), _clean(each.host), org, repo),
        )
        for each in found
    ]


def endpoint_of(row: Sequence[Any]) -> Endpoint:
    """The route or request from a row of the columns ``ENDS``."""
    path, line, entity, serves, method, template, host = row
    return Endpoint(path, line, entity, bool(serves), method, template, host)


def file_row(layer: int, org: str, repo: str, file: FileGraph) -> tuple[Any, ...]:
    """The row of a file's report."""
    report = file.report
    return (
        *(layer, report.path, org, repo, report.digest, report.language, report.lines),
        *(report.size, file.mtime, file.inode, _clean(report.problem), report.skipped, file.gone),
        report.secrets,
    )


def link_row(layer: int, org: str, repo: str, file: FileGraph) -> tuple[Any, ...]:
    """The row of a file's link state."""
    return layer, file.report.path, org, repo, file.interface, file.package, file.asked


def _clean(text: str) -> str:
    """Text without NUL characters, which PostgreSQL rejects."""
    return text.replace("\0", "") if "\0" in text else text
