"""Compares an index with the linker's edges: what it adds, and how far the two agree."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from plugins.codegraph.model import Edge, EdgeKind, Entity, EntityKind, Strategy
from plugins.codegraph.scip.call_sites import Site, calls
from plugins.codegraph.scip.index import Document

_CALLABLE = frozenset({EntityKind.FUNCTION, EntityKind.METHOD, EntityKind.CLASS})
_TYPES = frozenset({EntityKind.CLASS, EntityKind.INTERFACE})
_CONSTRUCTORS = frozenset({"constructor", "__init__"})
Pair = tuple[int, int]


@dataclass(slots=True)
class Agreement:
    """How far the linker and an index agree on calls within the repository.

    Attributes:
        both: pairs of caller and callee that both have.
        differ: pairs of the index for which the linker has another callee of the same name.
        missed: other pairs that only the index has.
    """

    both: int = 0
    differ: int = 0
    missed: int = 0

    @property
    def agreed(self) -> float:
        """The share of agreement among the pairs for which both have a callee."""
        said = self.both + self.differ
        return self.both / said if said else 1.0

    @property
    def linked(self) -> float:
        """The share of the index's pairs that the linker has too."""
        known = self.both + self.differ + self.missed
        return self.both / known if known else 1.0


@dataclass(slots=True)
class Union:
    """What an index adds.

    Attributes:
        edges: those that the linker does not have, each with the strategy ``scip``.
        agreement: on calls.
        unknown: paths in the index that are not in the repository.
    """

    edges: list[Edge] = field(default_factory=list)
    agreement: Agreement = field(default_factory=Agreement)
    unknown: list[str] = field(default_factory=list)


def united(
    entities: Sequence[Entity],
    edges: Iterable[Edge],
    documents: Sequence[Document],
    files: Mapping[str, bytes],
) -> Union:
    """Compare an index with the linker's edges, and find what it adds.

    Args:
        entities: the repository's.
        edges: the linker's.
        documents: the index's, with paths relative to the repository's root.
        files: the bytes of the files, by path.
    """
    work = _Work(entities, edges)
    found = Union(unknown=sorted(d.path for d in documents if d.path not in files))
    known = [each for each in documents if each.path in files]
    for each in known:
        work.define(each, files[each.path])
    for each in known:
        work.call(each, files[each.path], found.edges)
        work.inherit(each, found.edges)
    found.agreement = work.agreement()
    return found


class _Work:
    def __init__(self, entities: Sequence[Entity], edges: Iterable[Edge]) -> None:
        self.entities = {each.key: each for each in entities}
        self.files = {e.path: e.key for e in entities if e.kind is EntityKind.FILE}
        self.inside: dict[str, list[Entity]] = defaultdict(list)
        self.constructors: dict[int, int] = {}
        for each in entities:
            if each.kind in _CALLABLE or each.kind is EntityKind.INTERFACE:
                self.inside[each.path].append(each)
            if each.kind is EntityKind.METHOD and each.name in _CONSTRUCTORS and each.parent:
                self.constructors[each.parent] = each.key
        self.starts = {path: [e.line for e in found] for path, found in self.inside.items()}
        self.ours: dict[EdgeKind, set[Pair]] = defaultdict(set)
        self.above: dict[int, list[int]] = defaultdict(list)
        for edge in edges:
            self.ours[edge.kind].add((edge.source, edge.target))
            if edge.kind in (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS):
                self.above[edge.source].append(edge.target)
        self.symbols: dict[str, int] = {}
        self.theirs: set[Pair] = set()

    # -- definitions ------------------------------------------------------------------------

    def define(self, document: Document, source: bytes) -> None:
        """Map the symbols that a file defines to entities; of overloads, the last."""
        by_name: dict[str, list[Entity]] = defaultdict(list)
        for each in self.inside.get(document.path, ()):
            by_name[each.name].append(each)
        lines = source.decode("utf-8", "replace").split("\n")
        for place in document.occurrences:
            if not place.defines or place.line >= len(lines) or place.symbol in self.symbols:
                continue
            name = lines[place.line][place.start : place.end].strip("'\"`")
            alike = by_name.get(name, ())
            near = [e for e in alike if e.line <= place.line + 1 <= e.end_line]
            if near:
                nearest = max(near, key=lambda e: e.line).qualified
                same = [e for e in alike if e.qualified == nearest]
                self.symbols[place.symbol] = same[-1].key

    # -- edges ------------------------------------------------------------------------------

    def call(self, document: Document, source: bytes, into: list[Edge]) -> None:
        """Add the calls of a file that the linker lacks."""
        added: dict[Pair, Edge] = {}
        for site in calls(document, source):
            target = self.symbols.get(site.symbol)
            if target is None or self.entities[target].kind not in _CALLABLE:
                continue
            caller = self._around(document.path, site.line)
            if caller is None or self._is_method(caller, site):
                continue
            pair = (caller, self._constructor(target))
            self.theirs.add(pair)
            if pair not in self.ours[EdgeKind.CALLS]:
                added.setdefault(pair, self._edge(EdgeKind.CALLS, pair, document.path, site.line))
        into.extend(added.values())

    def _is_method(self, caller: int, site: Site) -> bool:
        """Whether this is not a call, but a method definition in an object literal that implements
        the symbol."""
        each = self.entities[caller]
        return site.opens and each.name == site.name and each.line == site.line

    def inherit(self, document: Document, into: list[Edge]) -> None:
        """Add the bases of a file's classes that the linker lacks."""
        for symbol, parents in document.parents.items():
            own = self.symbols.get(symbol)
            if own is None or self.entities[own].kind not in _TYPES:
                continue
            for parent in parents:
                target = self.symbols.get(parent)
                if target is None or self.entities[target].kind not in _TYPES or target == own:
                    continue
                if self._inherits(own, target):
                    continue
                different = self.entities[own].kind is not self.entities[target].kind
                kind = EdgeKind.IMPLEMENTS if different else EdgeKind.EXTENDS
                line = self.entities[own].line
                into.append(self._edge(kind, (own, target), document.path, line))

    def _inherits(self, own: int, target: int) -> bool:
        seen, todo = {own}, [own]
        for current in todo:
            todo += [each for each in self.above[current] if each not in seen]
            seen.update(self.above[current])
        return target in seen

    @staticmethod
    def _edge(kind: EdgeKind, pair: Pair, path: str, line: int) -> Edge:
        return Edge(kind, pair[0], pair[1], path, line, Strategy.SCIP)

    def _around(self, path: str, line: int) -> int | None:
        """The innermost definition that contains a line, else the file."""
        found = self.inside.get(path, ())
        last = bisect_right(self.starts.get(path, ()), line)
        for each in reversed(found[:last]):
            if each.end_line >= line:
                return each.key
        return self.files.get(path)

    def _constructor(self, target: int) -> int:
        """The constructor of a class, own or inherited; any other target unchanged."""
        if self.entities[target].kind is not EntityKind.CLASS:
            return target
        seen, todo = {target}, [target]
        for current in todo:
            if current in self.constructors:
                return self.constructors[current]
            todo += [each for each in self.above[current] if each not in seen]
            seen.update(self.above[current])
        return target

    def agreement(self) -> Agreement:
        """How far the two agree on calls."""
        found = Agreement()
        ours = self.ours[EdgeKind.CALLS]
        named: dict[tuple[int, str], set[int]] = defaultdict(set)
        for source, target in ours:
            named[source, self.entities[target].name].add(target)
        for source, target in self.theirs:
            if (source, target) in ours:
                found.both += 1
                continue
            others = named.get((source, self.entities[target].name), set())
            if any((source, other) not in self.theirs for other in others):
                found.differ += 1
            else:
                found.missed += 1
        return found
