"""The linker: from the facts of files to the edges between entities."""

from __future__ import annotations

from dataclasses import dataclass

from plugins.codegraph.linking.world import World
from plugins.codegraph.model import Edge, Unresolved


@dataclass(slots=True)
class LinkedFile:
    """What linking one file gives.

    Attributes:
        edges: those that the file says, in the order of kind and line: contains, imports,
            extends, implements and calls.
        unresolved: the calls that could not be placed, by name.
        dependencies: the keys of what this result depends on beside the file itself (see
            ``World``): ``f:path`` a file's facts or their absence, ``d:path`` a directory's
            files, ``p:language:package`` a package's files, ``m:name`` the manifests of a name
            or pattern, ``r:path`` a manifest's bytes.
    """

    edges: list[Edge]
    unresolved: list[Unresolved]
    dependencies: frozenset[str]


class Linker:
    """Links the files of one state of a repository. What it works out about one file serves the
    next, so one linker is used for many files; it is for one thread.

    Args:
        world: the repository's state; it must not change while this linker is in use.
    """

    def __init__(self, world: World) -> None:
        self.world = world

    def link(self, path: str) -> LinkedFile:
        """Link one file. The result does not depend on what was linked before."""
        return LinkedFile([], [], frozenset())


def link_file(world: World, path: str) -> LinkedFile:
    """Link one file alone; use a :class:`Linker` for several."""
    return Linker(world).link(path)
