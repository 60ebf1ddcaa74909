"""A repository in memory, with its edges as arrays of numbers: what every analysis reads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plugins.codegraph.model import EdgeKind, Entity, EntityKind, FileReport
from plugins.codegraph.store.codes import EDGE_CODES, EDGE_KINDS
from plugins.codegraph.store.compression import inflated
from plugins.codegraph.store.whole_layer import WholeLayer
from plugins.codegraph.tools.paths import is_test_file

Numbers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

_KEPT_TEXTS = 512
"""How many files' texts are kept inflated."""
_ASIDE = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|bench(?:mark(?:s|ing)?)?|fixtures?|docs?|vendor(?:ed)?"
    r"|third_party|generated|migrations?|testdata|perf(?:-measures)?)/"
    r"|(?:_pb2(?:_grpc)?\.py|\.pb\.go|\.min\.[cm]?js|\.d\.[cm]?ts)$"
)
"""Files that are no part of the product, or that nobody writes by hand."""
CALLABLE = (EntityKind.FUNCTION, EntityKind.METHOD)
FOLLOWED = frozenset({"python", "typescript", "javascript", "go", "java", "rust"})
"""Languages whose calls are followed; of others only files are known."""


class CodeBase:
    """A repository's base layer, indexed for analyses.

    Entities are numbered by their place in ``entities``; edges are arrays of these numbers.

    Args:
        layer: what the store has of it.

    Attributes:
        layer: that.
        entities: the entities.
        number: the number of each entity by key.
        source, target, kind, line: the edges whose two ends are known; kinds are numbers
            (``store/codes.py``).
    """

    def __init__(self, layer: WholeLayer) -> None:
        self.layer = layer
        self.entities = layer.entities
        self.number = {each.key: at for at, each in enumerate(layer.entities)}
        keys = np.array([each.key for each in layer.entities], np.int64)
        columns = layer.edges
        source, target = (_numbers(keys, column) for column in (columns.source, columns.target))
        known = (source >= 0) & (target >= 0)
        self.known = np.flatnonzero(known)
        self.source, self.target = source[known], target[known]
        self.kind = np.array(columns.kind, np.int64)[known]
        self.line = np.array(columns.line, np.int64)[known]
        self.text = lru_cache(maxsize=_KEPT_TEXTS)(self._text)

    @cached_property
    def parent(self) -> Numbers:
        """The number of the entity around each, or -1."""
        found = [self.number.get(-1 if e.parent is None else e.parent, -1) for e in self.entities]
        return np.array(found, np.int64)

    @cached_property
    def children(self) -> Sequence[Sequence[int]]:
        """The numbers of what is directly in each entity."""
        found: list[list[int]] = [[] for _ in self.entities]
        for at, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                found[parent].append(at)
        return found

    @cached_property
    def spans(self) -> tuple[Numbers, Numbers]:
        """Two numbers for each entity: what is in it begins between its own two."""
        begin, end = (np.zeros(len(self.entities), np.int64) for _ in range(2))
        clock = 0
        for root in np.flatnonzero(self.parent < 0).tolist():
            todo = [root]
            while todo:
                at = todo.pop()
                if at < 0:
                    end[~at] = clock
                    continue
                begin[at] = clock
                clock += 1
                todo.append(~at)
                todo += self.children[at]
        return begin, end

    @cached_property
    def _by_begin(self) -> Numbers:
        return np.argsort(self.spans[0])

    @cached_property
    def is_test(self) -> Flags:
        """Whether each entity is a test, or stands in a file of tests."""
        files = {path: is_test_file(path) for path in {each.path for each in self.entities}}
        return np.array([e.test or files[e.path] for e in self.entities], np.bool_)

    @cached_property
    def is_aside(self) -> Flags:
        """Whether each entity is no part of the product: a test, an example, a copy of others."""
        paths = {path for path in self.by_path if _ASIDE.search(path)}
        aside = np.array([each.path in paths for each in self.entities], np.bool_)
        return self.is_test | aside

    @cached_property
    def uses(self) -> Flags:
        """Which edges are uses: all but those that say what contains what."""
        found: Flags = self.kind != EDGE_CODES[EdgeKind.CONTAINS]
        return found

    @cached_property
    def fan_in(self) -> Numbers:
        """How many entities call or refer to each."""
        wanted = {
            code
            for code, kind in EDGE_KINDS.items()
            if kind in (EdgeKind.CALLS, EdgeKind.REFERENCES)
        }
        some = np.isin(self.kind, list(wanted))
        pairs = np.unique(np.stack([self.source[some], self.target[some]]), axis=1)
        return np.bincount(pairs[1], minlength=len(self.entities))

    @cached_property
    def reports(self) -> Mapping[str, FileReport]:
        """The files by path."""
        return {each.path: each for each in self.layer.reports}

    @cached_property
    def by_path(self) -> Mapping[str, Sequence[int]]:
        """The numbers of the entities of each file, by line."""
        found: dict[str, list[int]] = {}
        for at, each in enumerate(self.entities):
            found.setdefault(each.path, []).append(at)
        return found

    def _text(self, path: str) -> bytes:
        """A file's text as it was indexed; empty where it is not stored."""
        report = self.reports.get(path)
        data = None if report is None or report.skipped else self.layer.texts.get(report.digest)
        return b"" if data is None else inflated(data)

    def used_from_outside(self, without: Flags | None = None) -> Flags:
        """Whether something outside of each entity uses it, or what is in it.

        Args:
            without: entities whose uses do not count.
        """
        begin, end = self.spans
        some = self.uses if without is None else self.uses & ~without[self.source]
        source, around = self.source[some], self.target[some]
        used = np.zeros(len(self.entities), np.bool_)
        while len(around):
            inside = (begin[source] >= begin[around]) & (begin[source] < end[around])
            used[around[~inside]] = True
            up = self.parent[around]
            source, around = source[up >= 0], up[up >= 0]
        return used

    def within(self, chosen: Sequence[int]) -> Flags:
        """Which entities are among some, or in one of them."""
        found = np.zeros(len(self.entities), np.bool_)
        for each in chosen:
            found[self._by_begin[self.spans[0][each] : self.spans[1][each]]] = True
        return found

    def same(self, number: int) -> list[int]:
        """An entity with those of its name, kind and file: overloads, a property and its setter."""
        return self._same[_identity(self.entities[number])]

    @cached_property
    def _same(self) -> dict[tuple[str, str, str], list[int]]:
        found: dict[tuple[str, str, str], list[int]] = {}
        for at, each in enumerate(self.entities):
            found.setdefault(_identity(each), []).append(at)
        return found

    def place(self, number: int) -> str:
        """Where an entity stands, as ``path:line``."""
        entity = self.entities[number]
        return f"{entity.path}:{entity.line}"

    def is_code(self, entity: Entity) -> bool:
        """Whether an entity is in a language whose calls are followed."""
        return entity.language in FOLLOWED


def _identity(entity: Entity) -> tuple[str, str, str]:
    return entity.path, entity.qualified, entity.kind.value


def _numbers(keys: Numbers, wanted: Sequence[int]) -> Numbers:
    """The place of each wanted key among the keys, or -1."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(keys)
    ordered = keys[order]
    values = np.array(wanted, np.int64)
    at = np.clip(np.searchsorted(ordered, values), 0, len(keys) - 1)
    return np.where(ordered[at] == values, order[at], -1)
