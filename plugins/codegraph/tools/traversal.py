"""The tools that follow edges: callers, callees and imports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from gateway.contract import Caller, Listing, Page, Tier, Tool, ToolResult
from plugins.codegraph.model import CONFIDENCE, EdgeKind, Entity, EntityKind, Strategy
from plugins.codegraph.store.graph import Reached, Walk
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools import http_routes
from plugins.codegraph.tools.access import Access, Opened
from plugins.codegraph.tools.base import (
    CALLERS,
    IMPORTS,
    READS,
    Branch,
    Depth,
    File,
    Kind,
    MinConfidence,
    Name,
    Repo,
)
from plugins.codegraph.tools.entity_detail import EntityDetail
from plugins.codegraph.tools.entity_lookup import TYPES, Found, file_path, find
from plugins.codegraph.tools.notes import Note, completeness, noted
from plugins.codegraph.tools.other_repositories import imports_elsewhere
from plugins.codegraph.tools.overrides import (
    Overridden,
    implementations,
    is_constructed,
    overridden,
)
from plugins.codegraph.tools.result_models import Edge, WholeEdge, edge
from plugins.codegraph.tools.through import Through

FULL_BELOW = 5
"""With fewer results than this, each is shown in full (kap10, "Summarization Rules")."""
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "constructor", "new"})


def _brief(item: WholeEdge | Edge) -> Edge:
    return Edge(**{name: getattr(item, name) for name in Edge.model_fields})


PAGE = Page(size=CALLERS, summarize=_brief, item=WholeEdge | Edge, note=Note)


class Imported(ToolResult):
    """A file at the other end of an import."""

    file: str
    depth: int
    via: str | None = Field(None, description="The file one step before, where depth is above 1.")
    at: str = Field(description="Where the import stands: file:line.")
    names: list[str] | None = Field(None, description="What is imported from it, where known.")
    strategy: str
    confidence: float


IMPORTS_PAGE = Page(size=IMPORTS, summarize=lambda item: item, item=Imported, note=Note)


def tools(access: Access) -> list[Tool]:
    """The tools, in the order in which an agent should consider them."""
    return [_callers(access), _callees(access), _imports(access)]


def _callers(access: Access) -> Tool:
    async def get_callers(  # noqa: PLR0913 - a client names each
        name: Name,
        file: File = None,
        kind: Kind = None,
        depth: Depth = 1,
        min_confidence: MinConfidence = 0.0,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Listing[Edge]:
        """Who calls a function, method or class: every caller with the place of the call, and how
        the edge was found. Use it before you change a signature. Read meta.completeness: where it
        says incomplete, there may be callers that are not listed. Calls of a method that it
        overrides, and requests to a route that it serves, are marked with through. For every other
        use, use find_references; for all that a change may break, by file and by test,
        analyze_impact."""
        opened = await access(caller, repo, branch)
        kinds = () if kind is None else (kind,)
        found = await find(opened.graph, name, file, kinds, prefer=kind is None)
        keys = await called(opened.graph, found)
        walk = await opened.graph.walk(
            keys, EdgeKind.CALLS, True, depth, min_confidence=min_confidence
        )
        above = await overridden(opened.graph, found.all)
        through = await _callers_through(opened.graph, found, above, min_confidence)
        complete = await completeness(opened.graph, found.all, None if through else above)
        if min_confidence <= CONFIDENCE[Strategy.URL]:
            through += await http_routes.requesters(access, caller, opened, keys)
        elsewhere = await imports_elsewhere(access, caller, opened, found.all)
        return await _listed(opened, walk, noted(opened, complete, found.note, elsewhere), through)

    return Tool.of(get_callers, title="Find callers", page=PAGE, tier=Tier.OPEN, annotations=READS)


def _callees(access: Access) -> Tool:
    async def get_callees(  # noqa: PLR0913 - a client names each
        name: Name,
        file: File = None,
        kind: Kind = None,
        depth: Depth = 1,
        min_confidence: MinConfidence = 0.0,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Listing[Edge]:
        """What a function, method or class calls within the repository: each callee with the place
        of the call, and how the edge was found. Where a method is declared above, those that can
        run are there too, marked with through; so is what serves a route that it requests. Calls
        of libraries are not among them. Use it to understand what something does without reading
        every file."""
        opened = await access(caller, repo, branch)
        kinds = () if kind is None else (kind,)
        found = await find(opened.graph, name, file, kinds, prefer=kind is None)
        keys = [*found.keys, *await members_of(opened.graph, found)]
        walk = await opened.graph.walk(
            keys, EdgeKind.CALLS, False, depth, min_confidence=min_confidence
        )
        through = await _callees_through(opened.graph, walk)
        if min_confidence <= CONFIDENCE[Strategy.URL]:
            through += await http_routes.requested(access, caller, opened, keys)
        return await _listed(opened, walk, noted(opened, note=found.note), through)

    return Tool.of(get_callees, title="Find callees", page=PAGE, tier=Tier.OPEN, annotations=READS)


def _imports(access: Access) -> Tool:
    async def get_imports(
        file: Annotated[
            str, Field(description="Its path from the repository's root, or the end of it.")
        ],
        direction: Annotated[
            Literal["imports", "imported_by"],
            Field(description="imports: what the file needs; imported_by: what needs the file."),
        ] = "imports",
        depth: Depth = 1,
        min_confidence: MinConfidence = 0.0,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Listing[Imported]:
        """The files of the repository that a file imports, or that import it, step by step to a
        depth of 5. Use it to see what a module depends on. Libraries are not among them."""
        opened = await access(caller, repo, branch)
        path = await file_path(opened.graph, file)
        whole = await opened.graph.in_file(path)
        incoming = direction == "imported_by"
        keys = [each.key for each in (whole if incoming else whole[:1])]
        walk = await opened.graph.walk(
            keys, EdgeKind.IMPORTS, incoming, depth, min_confidence=min_confidence
        )
        items = await _imported(opened.graph, walk.reached, path)
        return Listing(items, key=lambda item: item.file, note=noted(opened))

    return Tool.of(
        get_imports, title="Follow imports", page=IMPORTS_PAGE, tier=Tier.OPEN, annotations=READS
    )


async def called(graph: Graph, found: Found) -> list[int]:
    """The keys whose callers count as callers of something: for a class also its constructors."""
    keys = found.keys
    if found.entity.kind in TYPES:
        for key in found.keys:
            own = {found.entity.name} | _CONSTRUCTORS
            keys += [each.key for each in await graph.contained(key) if each.name in own]
    return keys


async def members_of(graph: Graph, found: Found) -> list[int]:
    """The keys whose callees count as callees of something: for a class its members."""
    if found.entity.kind not in TYPES:
        return []
    return [each.key for key in found.keys for each in await graph.contained(key)]


async def _callers_through(
    graph: Graph, found: Found, above: Overridden, min_confidence: float
) -> list[Through]:
    """The callers of the methods that a method overrides, if an object of its class is made."""
    around = found.entity.parent
    if around is None or not above.methods or not await is_constructed(graph, around):
        return []
    marked = []
    for each in above.methods:
        walk = await graph.walk([each.key], EdgeKind.CALLS, True, min_confidence=min_confidence)
        marked += [Through(caller, each.qualified, graph) for caller in walk.reached]
    return marked


async def _callees_through(graph: Graph, walk: Walk) -> list[Through]:
    """What can run where the methods that are called directly are declared."""
    there = {each.entity.key for each in walk.reached}
    marked = []
    for each in walk.reached[:CALLERS]:
        if each.depth > 1 or each.entity.kind is not EntityKind.METHOD:
            continue
        for one in await implementations(graph, each.entity):
            if one.key not in there:
                there.add(one.key)
                marked.append(Through(replace(each, entity=one), each.entity.qualified, graph))
    return marked


async def _listed(
    opened: Opened, walk: Walk, note: Note, through: Sequence[Through] = ()
) -> Listing[Edge]:
    graph = opened.graph
    via = await graph.entities({each.via for each in walk.reached if each.depth > 1})
    there = {each.entity.key for each in walk.reached}
    others = [each for each in through if each.reached.entity.key not in there]
    more = list({each.reached.entity.key: each for each in others}.values())
    items: list[Edge] = [edge(each, via.get(each.via)) for each in walk.reached]
    items += [each.edge(graph) for each in more]
    total = walk.total + len(more)
    if total < FULL_BELOW:
        whole = [(graph, each) for each in walk.reached]
        whole += [(each.graph, each.reached) for each in more]
        items = [
            WholeEdge(**item.model_dump(by_alias=False), **await EntityDetail(of).body(each.entity))
            for item, (of, each) in zip(items, whole, strict=True)
        ]
    return Listing(items, key=lambda item: item.key, note=note, total=total)


async def _imported(graph: Graph, reached: Sequence[Reached], start: str) -> list[Imported]:
    """One entry per file, nearest first, with the names imported from it."""
    files: dict[str, dict[str, Any]] = {}
    via = await graph.entities({each.via for each in reached if each.depth > 1})
    for each in reached:
        if each.entity.path == start:
            continue
        entry = files.setdefault(each.entity.path, _entry(each, via.get(each.via)))
        if each.entity.kind is not EntityKind.FILE and each.depth == entry["depth"]:
            entry["names"].append(each.entity.qualified)
    return [Imported(**{**entry, "names": entry["names"] or None}) for entry in files.values()]


def _entry(reached: Reached, via: Entity | None) -> dict[str, Any]:
    return {
        "file": reached.entity.path,
        "depth": reached.depth,
        "via": via.path if via is not None else None,
        "at": f"{reached.path}:{reached.line}",
        "names": [],
        "strategy": reached.strategy.value,
        "confidence": reached.confidence,
    }
