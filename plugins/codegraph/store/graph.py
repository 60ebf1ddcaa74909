"""The data types of a graph as one caller sees it: one repository, with uncommitted work.

``stored_graph.Graph`` takes and returns them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from plugins.codegraph.model import EdgeKind, Entity, EntityKind, Sort, Strategy

MAX_DEPTH = 5
"""The most steps of a walk."""
MAX_REACHED = 1_000
"""The default limit of entities returned by one walk; more are still counted."""


@dataclass(frozen=True, slots=True)
class OverlayView:
    """One person's uncommitted work over a repository, or another branch of it.

    Attributes:
        layer: the layer that holds it.
        person: its owner; None for a branch.
        branch: the branch it was made on, or that it is.
        updated: when it was last sent, or looked for.
        expires: when it expires; None for a branch.
        stale: whether the repository was reindexed since, so that the two may not fit.
    """

    layer: int
    person: str | None
    branch: str
    updated: datetime
    expires: datetime | None
    stale: bool = False


@dataclass(frozen=True, slots=True)
class RepositoryView:
    """A repository as one caller sees it.

    Attributes:
        id: its short id.
        org: its organisation.
        name: its name in the portal.
        layer: the base layer that is served.
        generation: how often that layer was changed in place; a cache key together with ``layer``.
        commit, branch: what was indexed, or "" where it is not a Git checkout.
        indexed: when.
        problem: what went wrong with indexing it, or "".
        embedded: whether all of that has vectors.
        overlay: the caller's uncommitted work, or the branch that they asked for, or None.
        scip: what the SCIP indexers did (``scip/merge.py``), or None.
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
        """A cache key that changes whenever an answer may."""
        overlay = self.overlay.layer if self.overlay else 0
        return self.layer, self.generation, overlay


@dataclass(frozen=True, slots=True)
class Reached:
    """An entity that a walk reached.

    Attributes:
        entity: the entity.
        depth: the number of steps, from 1.
        via: the key of the entity one step before.
        path, line: where the edge stands in the code: its first line, in the file of its source.
        strategy: how the edge was found.
        confidence: the minimum confidence of that strategy, from 0 to 1.
        sites: the number of places with this edge.
        kind: what kind of edge it is.
        sort: of a reference, what for.
    """

    entity: Entity
    depth: int
    via: int
    path: str
    line: int
    strategy: Strategy
    confidence: float
    sites: int
    kind: EdgeKind
    sort: Sort | None = None


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of a walk.

    Attributes:
        reached: the entities, nearest first, then the most certain, then by file and line.
        total: how many there are, including those beyond the limit; a lower bound if ``capped``.
        capped: whether the walk stopped before everything was counted.
    """

    reached: Sequence[Reached]
    total: int
    capped: bool = False


@dataclass(frozen=True, slots=True)
class Sites:
    """Calls by one name whose target is unknown.

    Attributes:
        total: how many.
        places: the first in each file, as ``path:line``, sorted.
    """

    total: int
    places: Sequence[str]


@dataclass(frozen=True, slots=True)
class Counted:
    """The files and lines of one language."""

    files: int
    lines: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a repository's content is.

    Attributes:
        languages: files and lines by language ("" for unknown ones), without skipped files.
        entities: the numbers by kind.
        all_edges: the number of edges.
        skipped: files that are not in the graph.
        problems: files that are only partly in the graph.
    """

    languages: Mapping[str, Counted] = field(default_factory=dict)
    entities: Mapping[EntityKind, int] = field(default_factory=dict)
    all_edges: int = 0
    skipped: int = 0
    problems: int = 0


@dataclass(frozen=True, slots=True)
class Stats(Sizes):
    """The counts of a repository's content; to count edges by kind takes longer than all else.

    Attributes:
        edges: the numbers by kind.
        strategies: the number of edges by strategy.
        unresolved: the number of call sites whose target is unknown.
    """

    edges: Mapping[EdgeKind, int] = field(default_factory=dict)
    strategies: Mapping[Strategy, int] = field(default_factory=dict)
    unresolved: int = 0
