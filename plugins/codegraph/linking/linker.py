"""The linker: from the facts of files to the edges between entities."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from plugins.codegraph.linking.engine import Engine
from plugins.codegraph.linking.mentions import mentions
from plugins.codegraph.linking.relations import relations
from plugins.codegraph.linking.sites import Sites
from plugins.codegraph.linking.world import World
from plugins.codegraph.model import Edge, Mention, Unresolved

FRAMES = 60_000
"""How deep the interpreter may nest while names are worked out: values come from values. Since
Python 3.11 such frames are on the heap."""


@dataclass(slots=True)
class LinkedFile:
    """What linking one file gives.

    Attributes:
        edges: those that the file says, in the order of kind and line: contains, imports,
            extends, implements and calls.
        unresolved: the calls that could not be placed, by name.
        dependencies: the keys of what this result depends on (see ``World``): ``f:path`` a
            file's facts or their absence, ``e:path`` whether there is such a file, ``d:path`` a
            directory's files, ``p:language:package`` a package's files, ``m:name`` the
            manifests of a name or pattern, ``r:path`` a manifest's bytes.
        mentions: the names that stand in it and that no edge accounts for.
    """

    edges: list[Edge]
    unresolved: list[Unresolved]
    dependencies: frozenset[str]
    mentions: list[Mention] = field(default_factory=list)


class Linker:
    """Links the files of one state of a repository. What it works out about one file serves the
    next, so one linker is used for many files; it is for one thread.

    Args:
        world: the repository's state; it must not change while this linker is in use.
    """

    def __init__(self, world: World) -> None:
        self._engine = Engine(world)

    def link(self, path: str) -> LinkedFile:
        """Link one file. The result does not depend on what was linked before."""
        engine = self._engine
        engine.solver.begin()
        sheet = engine.sheet(path)
        if sheet is None:
            return LinkedFile([], [], engine.solver.noted())
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, FRAMES))
        try:
            edges = relations(engine, sheet)
            sites = Sites(engine, sheet)
            sites.collect()
            left = mentions(engine, sheet, sites.placed(), edges)
        finally:
            sys.setrecursionlimit(before)
        noted = engine.solver.noted()
        return LinkedFile(edges + sites.edges(), sites.unresolved(), noted, left)


def link_file(world: World, path: str) -> LinkedFile:
    """Link one file alone; use a :class:`Linker` for several."""
    return Linker(world).link(path)
