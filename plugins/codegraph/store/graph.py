"""A graph as those who ask see it: one repository, for one caller, with their uncommitted work.

What ``stored_graph.Graph`` is opened with, and what it answers with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from plugins.codegraph.model import EdgeKind, Entity, EntityKind, Strategy

MAX_DEPTH = 5
"""The furthest hop that is followed."""
MAX_REACHED = 1_000
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
