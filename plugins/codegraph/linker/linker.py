"""The linker: resolves the facts of files to the edges between entities."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

from plugins.codegraph.languages.source_view import SourceView
from plugins.codegraph.linker.call_sites import CallSites
from plugins.codegraph.linker.endpoints import endpoints
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.mentions import mentions
from plugins.codegraph.linker.references import References
from plugins.codegraph.linker.relations import relations
from plugins.codegraph.model import Edge, Endpoint, Mention, Unresolved

RECURSION_LIMIT = 60_000
"""The interpreter's recursion limit while linking: evaluation recurses through chains of values.
Since Python 3.11 such frames live on the heap."""


@dataclass(slots=True)
class LinkedFile:
    """The result of linking one file.

    Attributes:
        edges: the edges that start in the file, in the order of kind and line: contains, imports,
            extends, implements, calls and references.
        unresolved: the calls whose target is unknown, by name.
        dependencies: the keys of what this result depends on (see ``SourceView``): ``f:path`` a
            file's facts or their absence, ``e:path`` whether there is such a file, ``d:path`` a
            directory's files, ``p:language:package`` a package's files, ``m:name`` the
            manifests of a name or pattern, ``r:path`` a manifest's bytes.
        mentions: the names that occur in it and that no edge accounts for, and the members of
            what seems to be outside of the repository.
        endpoints: the routes that it serves and the requests that it makes.
    """

    edges: list[Edge]
    unresolved: list[Unresolved]
    dependencies: frozenset[str]
    mentions: list[Mention] = field(default_factory=list)
    endpoints: list[Endpoint] = field(default_factory=list)


class Linker:
    """Links the files of one state of a repository. Results about one file are cached for the next,
    so use one linker for many files. Not thread-safe.

    Args:
        view: the repository's state; it must not change while this linker is in use.
    """

    def __init__(self, view: SourceView) -> None:
        self._engine = Engine(view)

    def link(self, path: str) -> LinkedFile:
        """Link one file. The result does not depend on what was linked before."""
        engine = self._engine
        engine.solver.begin()
        index = engine.index(path)
        if index is None:
            return LinkedFile([], [], engine.solver.noted())
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, RECURSION_LIMIT))
        try:
            edges = relations(engine, index)
            sites = CallSites(engine, index)
            sites.collect()
            named = References(engine, index, sites.placed())
            named.collect()
            open_ = {each.name for each in sites.unresolved()}
            asked = [place for place in named.asked if place[0] not in open_]
            left = mentions(engine, index, named.explained, named.left_calls(), asked)
            ends = endpoints(engine, index)
        finally:
            sys.setrecursionlimit(before)
        noted = engine.solver.noted()
        arrows = edges + sites.edges() + named.edges()
        return LinkedFile(arrows, sites.unresolved(), noted, left, ends)
