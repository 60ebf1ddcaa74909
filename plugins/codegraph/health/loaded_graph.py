"""A graph that answers from memory, so that proofs written for one entity run over all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from gateway.contract import Database
from plugins.codegraph.health.code_base import CodeBase, Numbers
from plugins.codegraph.model import (
    EdgeKind,
    Endpoint,
    Entity,
    EntityKind,
    FileReport,
    Mention,
    Sort,
)
from plugins.codegraph.store.codes import EDGE_KINDS, SORTS, STRATEGIES, edge_codes
from plugins.codegraph.store.graph import MAX_REACHED, Reached, RepositoryView, Sites, Walk
from plugins.codegraph.store.known_names import KnownNames
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.store.traversal import SURE


class LoadedGraph(Graph):
    """A repository's graph, whose reading methods answer from memory.

    ``find`` and ``walk`` know what the proofs of ``tools/doubts.py`` ask: an own name, and every
    edge whatever its confidence.

    Args:
        code: the repository.
        database: the plugin's database.
        repo: the repository's view.
    """

    def __init__(self, code: CodeBase, database: Database, repo: RepositoryView) -> None:
        super().__init__(database, repo, KnownNames())
        self._code = code
        self._order = {incoming: np.argsort(self._near(incoming)) for incoming in (True, False)}

    async def find(
        self, name: str, file: str | None = None, kinds: Collection[EntityKind] = ()
    ) -> list[Entity]:
        """The entities of an own name, by file and line."""
        found = (self._code.entities[at] for at in self._by_name.get(name, ()))
        return [
            each
            for each in found
            if (not kinds or each.kind in kinds) and file in (None, each.path)
        ]

    async def entities(self, keys: Collection[int]) -> dict[int, Entity]:
        """Entities by key."""
        number, entities = self._code.number, self._code.entities
        return {key: entities[number[key]] for key in keys if key in number}

    async def contained(self, key: int) -> list[Entity]:
        """The entities directly contained in one."""
        at = self._code.number.get(key)
        inner = () if at is None else self._code.children[at]
        return [self._code.entities[each] for each in inner]

    async def in_file(self, path: str) -> list[Entity]:
        """All entities of a file, by line."""
        return [self._code.entities[at] for at in self._code.by_path.get(path, ())]

    async def source(self, path: str) -> bytes | None:
        """A file's text."""
        return self._code.text(path) or None

    async def reports(self, problems_only: bool = True) -> list[FileReport]:
        """The reports of files, by path."""
        return self._problems if problems_only else list(self._code.layer.reports)

    async def mentions(self, names: Collection[str]) -> list[Mention]:
        """Mentions of these names, by file."""
        return sorted(
            (each for name in names for each in self._mentions.get(name, ())),
            key=lambda each: (each.path, each.name),
        )

    async def unresolved(self, name: str, limit: int = 50) -> Sites:
        """Calls by this name whose target is unknown."""
        found = self._unresolved.get(name, ())
        places = [f"{path}:{line}" for path, line, _ in found[:limit]]
        return Sites(sum(sites for *_, sites in found), places)

    async def endpoints(self, keys: Collection[int] | None = None) -> list[Endpoint]:
        """Routes and requests; only those of these entities, if given."""
        if keys is None:
            return sorted(self._code.layer.endpoints, key=lambda each: (each.path, each.line))
        return [each for key in keys for each in self._endpoints.get(key, ())]

    async def uses(
        self,
        keys: Collection[int],
        kind: EdgeKind | Collection[EdgeKind],
        sorts: Collection[Sort] = (),
        limit: int = MAX_REACHED,
        min_confidence: float = 0.0,
    ) -> Walk:
        """The edges that lead to some entities, each of its own."""
        wanted = edge_codes(kind, sorts)
        found = [
            self._reached(edge, 1, incoming=True)
            for key in keys
            for edge in self._edges(self._code.number.get(key, -1), wanted, incoming=True)
        ]
        found.sort(key=lambda each: (each.path, each.line, *_place(each.entity)))
        return Walk(found[:limit], len(found))

    async def walk(
        self,
        keys: Collection[int],
        kind: EdgeKind | Collection[EdgeKind],
        incoming: bool,
        depth: int = 1,
        limit: int = MAX_REACHED,
        min_confidence: float = 0.0,
    ) -> Walk:
        """Walk along edges, breadth first."""
        wanted = edge_codes(kind)
        far = self._code.source if incoming else self._code.target
        front = [self._code.number[key] for key in keys if key in self._code.number]
        seen, found = set(front), []
        for step in range(1, depth + 1):
            after = []
            for at in front:
                for edge in self._edges(at, wanted, incoming=incoming):
                    if (end := int(far[edge])) not in seen:
                        seen.add(end)
                        after.append(end)
                        found.append(self._reached(edge, step, incoming=incoming))
            front = after
        found.sort(key=lambda each: (each.depth, -each.confidence, *_place(each.entity)))
        return Walk(found[:limit], len(found))

    def _near(self, incoming: bool) -> Numbers:
        return self._code.target if incoming else self._code.source

    def _edges(self, at: int, kinds: Sequence[int], *, incoming: bool) -> list[int]:
        order, near = self._order[incoming], self._sorted[incoming]
        first, last = np.searchsorted(near, [at, at + 1])
        return [edge for edge in order[first:last].tolist() if self._code.kind[edge] in kinds]

    @cached_property
    def _sorted(self) -> dict[bool, Numbers]:
        return {incoming: self._near(incoming)[order] for incoming, order in self._order.items()}

    def _reached(self, edge: int, depth: int, *, incoming: bool) -> Reached:
        code, columns = self._code, self._code.layer.edges
        raw = int(code.known[edge])
        ends = int(code.source[edge]), int(code.target[edge])
        end, via = ends if incoming else ends[::-1]
        kind, strategy = int(code.kind[edge]), columns.strategy[raw]
        return Reached(
            entity=code.entities[end],
            depth=depth,
            via=code.entities[via].key,
            path=code.entities[ends[0]].path,
            line=columns.line[raw],
            strategy=STRATEGIES[strategy],
            confidence=SURE[strategy],
            sites=columns.sites[raw],
            kind=EDGE_KINDS[kind],
            sort=SORTS.get(kind),
        )

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for at, each in enumerate(self._code.entities):
            found[each.name].append(at)
        return found

    @cached_property
    def _problems(self) -> list[FileReport]:
        return [each for each in self._code.layer.reports if each.problem or each.skipped]

    @cached_property
    def _mentions(self) -> dict[str, list[Mention]]:
        found: dict[str, list[Mention]] = defaultdict(list)
        for each in self._code.layer.mentions:
            found[each.name].append(each)
        return found

    @cached_property
    def _unresolved(self) -> dict[str, list[tuple[str, int, int]]]:
        found: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
        for each in self._code.layer.unresolved:
            found[each.name].append((each.path, each.line, each.sites))
        return found

    @cached_property
    def _endpoints(self) -> dict[int, list[Endpoint]]:
        found: dict[int, list[Endpoint]] = defaultdict(list)
        for each in self._code.layer.endpoints:
            found[each.entity].append(each)
        return found


def _place(entity: Entity) -> tuple[str, int, str, int]:
    return entity.path, entity.line, entity.qualified, entity.key
