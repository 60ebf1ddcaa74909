"""A graph as those who ask see it: one repository, for one caller, with their uncommitted work.

``Graph`` is what tools and search build on; ``store/reading.py`` implements it over the database.
Every query of an implementation is bound to the organisation and the repository of its
``RepositoryView``, which comes from the registry and never from a caller's arguments.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from plugins.codegraph.model import EdgeKind, Entity, EntityKind, FileReport, Mention, Strategy

MOST_DEPTH = 5
"""The furthest hop that is followed."""
MOST_REACHED = 1_000
"""The most entities that one walk gives, unless it asks for fewer; more are still counted."""


@dataclass(frozen=True, slots=True)
class OverlayView:
    """One person's uncommitted work over a repository.

    Attributes:
        layer: the layer that holds it.
        person: whose it is.
        branch: the branch it was made on.
        updated: when it was last sent.
        expires: when it is forgotten.
        stale: whether the repository was indexed anew since, so that the two may not fit.
    """

    layer: int
    person: str
    branch: str
    updated: datetime
    expires: datetime
    stale: bool = False


@dataclass(frozen=True, slots=True)
class RepositoryView:
    """A repository as one caller sees it.

    Attributes:
        id: its short id.
        org: its organisation.
        name: its name in the portal.
        layer: the base layer that is served.
        generation: how often that was changed in place; with ``layer`` a key for caches.
        commit, branch: what was indexed, or "" where it is no Git checkout.
        indexed: when.
        problem: what went wrong with indexing it, "" for nothing.
        embedded: whether all of that has vectors.
        overlay: the caller's uncommitted work, or None.
        scip: what the SCIP indexers did (``scip/checking.py``), or None.
    """

    id: str
    org: str
    name: str
    layer: int
    generation: int = 0
    commit: str = ""
    branch: str = ""
    indexed: datetime | None = None
    problem: str = ""
    embedded: bool = False
    overlay: OverlayView | None = None
    scip: Mapping[str, Any] | None = None

    @property
    def version(self) -> tuple[int, ...]:
        """What changes whenever an answer may: a key for caches."""
        overlay = self.overlay.layer if self.overlay else 0
        return self.layer, self.generation, overlay


@dataclass(frozen=True, slots=True)
class Reached:
    """An entity that a walk came to.

    Attributes:
        entity: what was reached.
        depth: by how many steps, from 1.
        via: the key of the entity one step before.
        path, line: where the code says so: the first such line of the edge's source.
        strategy: how the edge was found.
        confidence: how often such an edge is right, at least.
        sites: how many places say so.
    """

    entity: Entity
    depth: int
    via: int
    path: str
    line: int
    strategy: Strategy
    confidence: float
    sites: int


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk gave.

    Attributes:
        reached: the entities, nearest first, then the surest, then by file and line.
        total: how many there are, also those beyond the limit; a lower bound where ``capped``.
        capped: whether the walk was ended before all was counted.
    """

    reached: Sequence[Reached]
    total: int
    capped: bool = False


@dataclass(frozen=True, slots=True)
class Sites:
    """Calls that may be to anyone of a name.

    Attributes:
        total: how many.
        places: the first in each file, as ``path:line``, sorted.
    """

    total: int
    places: Sequence[str]


@dataclass(frozen=True, slots=True)
class Counted:
    """How much there is of one language."""

    files: int
    lines: int


@dataclass(frozen=True, slots=True)
class Stats:
    """How much of what a repository holds.

    Attributes:
        languages: files and lines by language, "" for files of none; without skipped ones.
        entities, edges: how many by kind.
        strategies: how many edges by how they were found.
        unresolved: call sites whose target is not known.
        skipped: files that are not in the graph.
        problems: files that are in the graph in part.
    """

    languages: Mapping[str, Counted] = field(default_factory=dict)
    entities: Mapping[EntityKind, int] = field(default_factory=dict)
    edges: Mapping[EdgeKind, int] = field(default_factory=dict)
    strategies: Mapping[Strategy, int] = field(default_factory=dict)
    unresolved: int = 0
    skipped: int = 0
    problems: int = 0


class Graph(Protocol):
    """One repository as one caller sees it, the caller's overlay included."""

    @property
    def repo(self) -> RepositoryView:
        """Which repository, and which state of it."""
        ...

    async def find(
        self, name: str, file: str | None = None, kinds: Collection[EntityKind] = ()
    ) -> list[Entity]:
        """The entities of a name, by file and line.

        Args:
            name: an own name, a qualified one or the end of one (``Graph.find``; ``.``, ``::``,
                ``#`` and ``/`` separate), a file's path or the end of it, or a key of 16
                hexadecimal digits.
            file: a file's path or the end of one, at a ``/``.
            kinds: only these; all where empty.
        """
        ...

    async def nearest(
        self, name: str, limit: int = 10, kinds: Collection[EntityKind] = ()
    ) -> list[Entity]:
        """The entities whose names are most like an unknown one, the likest first."""
        ...

    async def entities(self, keys: Collection[int]) -> dict[int, Entity]:
        """The entities of keys; those that are not there are left out."""
        ...

    async def neighbours(
        self,
        key: int,
        kind: EdgeKind | Collection[EdgeKind],
        incoming: bool,
        depth: int = 1,
        limit: int = MOST_REACHED,
        min_confidence: float = 0.0,
    ) -> Walk:
        """Walk along edges, breadth first; nothing is reached twice, nor the start itself.

        Args:
            key: where to start; or more than one of them, see :meth:`walk`.
            kind: along edges of this kind, or of any of several.
            incoming: against their direction: callers rather than callees.
            depth: how many steps, 1 to 5.
            limit: the most entities given; more are still counted.
            min_confidence: only along edges at least so sure.
        """
        ...

    async def walk(
        self,
        keys: Collection[int],
        kind: EdgeKind | Collection[EdgeKind],
        incoming: bool,
        depth: int = 1,
        limit: int = MOST_REACHED,
        min_confidence: float = 0.0,
    ) -> Walk:
        """:meth:`neighbours` of several entities at once: of a class and its methods, say."""
        ...

    async def degrees(self, keys: Collection[int]) -> dict[int, tuple[int, int]]:
        """How many entities call each of some, and how many each of them calls."""
        ...

    async def contained(self, key: int) -> list[Entity]:
        """What an entity contains directly, by line."""
        ...

    async def in_file(self, path: str) -> list[Entity]:
        """All entities of a file, the file first, then by line."""
        ...

    async def file(self, path: str) -> FileReport | None:
        """What became of a file, or None where there is none."""
        ...

    async def source(self, path: str) -> bytes | None:
        """A file's text as it was indexed, or None where it is not in the graph."""
        ...

    async def words(
        self, query: str, limit: int, kinds: Collection[EntityKind] = ()
    ) -> list[tuple[Entity, float]]:
        """Full text over names split into words, signatures and docs; the best first.

        The scores compare within one answer only. Each is greater than 0.
        """
        ...

    async def stats(self) -> Stats:
        """How much of what the repository holds."""
        ...

    async def unresolved(self, name: str, limit: int = 50) -> Sites:
        """Calls by a name whose target is not known; ``limit`` bounds the places."""
        ...

    async def mentions(self, names: Collection[str]) -> list[Mention]:
        """Where names stand that no definition and no edge accounts for, by file."""
        ...

    async def secrets(self) -> list[FileReport]:
        """The files of whose text something was taken out, by path."""
        ...

    async def reports(self, problems_only: bool = True) -> list[FileReport]:
        """What became of the files, by path; only those with a problem unless asked for all."""
        ...

    async def page(
        self, after: int = 0, limit: int = 1_000, kinds: Collection[EntityKind] = ()
    ) -> list[tuple[int, Entity]]:
        """All entities in pages, each with its number, for those who must see every one.

        Args:
            after: the last number of the page before, or 0.
            limit: the most of them.
            kinds: only these; all where empty.
        """
        ...
