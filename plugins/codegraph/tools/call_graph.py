"""The tool that shows what stands around an entity as a graph: its nodes and all edges between
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from gateway.contract import Caller, Tier, Tool, ToolResult
from plugins.codegraph.model import EdgeKind, Entity, shown_key
from plugins.codegraph.store.graph import MAX_REACHED, Reached
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import READS, Branch, Depth, Name, Repo, Wire
from plugins.codegraph.tools.entity_lookup import Found, find
from plugins.codegraph.tools.impact import DEPENDS, changed
from plugins.codegraph.tools.notes import Note, noted
from plugins.codegraph.tools.paths import is_test_file
from plugins.codegraph.tools.result_models import Ref
from plugins.codegraph.tools.traversal import called, members_of
from plugins.codegraph.tools.uses import By, use_of

SHOWN = 60
"""The nodes of an answer whose caller does not say how many."""


class GraphEntity(Ref):
    """One node."""

    depth: int = Field(
        description="How many steps away it is: 0 is what was asked about, 2 a caller's caller, "
        "-2 a callee's callee."
    )
    test: bool | None = Field(None, description="true: it is a test, or in a file of tests.")


class GraphUse(ToolResult):
    """One edge."""

    source: str = Field(description="The key of the entity that uses the other.")
    target: str
    by: By
    at: str = Field(description="The first place: file:line.")
    confidence: float


class CallGraph(ToolResult):
    """What stands around an entity."""

    nodes: list[GraphEntity] = Field(description="What was asked about, then the nearest first.")
    edges: list[GraphUse] = Field(description="All edges between these nodes.")
    left_out: int = Field(description="How many entities beyond these the steps lead to.")
    capped: bool | None = Field(None, description="true: there are more than were counted.")
    meta: Note


def tools(access: Access) -> list[Tool]:
    """The tools of this group."""

    async def get_call_graph(  # noqa: PLR0913 - a client names each
        name: Name,
        direction: Annotated[
            Literal["callers", "callees", "both"],
            Field(description="Who comes to it, what it comes to, or both."),
        ] = "callers",
        depth: Depth = 2,
        references: Annotated[
            bool,
            Field(
                description="Whether whatever else depends on it counts too: references, and what "
                "extends and implements it."
            ),
        ] = False,
        limit: Annotated[int, Field(ge=1, le=MAX_REACHED, description="The most nodes.")] = SHOWN,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Wire:
        """The calls around a function, method or class as a graph: the nodes within some steps and
        all edges between them. Use it to see how things hang together, or to draw them; for the
        list of callers with its completeness, use get_callers."""
        opened = await access(caller, repo, branch)
        found = await find(opened.graph, name, prefer=True)
        along = DEPENDS if references else (EdgeKind.CALLS,)
        around = _Around(opened.graph, found, along)
        if direction != "callees":
            await around.walk(True, depth)
        if direction != "callers":
            await around.walk(False, depth)
        nodes, edges = await around.shown(limit)
        return CallGraph(
            nodes=nodes,
            edges=edges,
            left_out=max(0, around.count - limit),
            capped=around.capped or None,
            meta=noted(opened, note=found.note),
        ).wire()

    return [
        Tool.of(
            get_call_graph,
            title="Draw the calls around it",
            result=CallGraph,
            tier=Tier.OPEN,
            annotations=READS,
        )
    ]


class _Around:
    """Collects what stands around an entity.

    Args:
        graph: where to look.
        found: the entity.
        along: the kinds of edges that count.

    Attributes:
        capped: whether there are more entities than were counted.
    """

    def __init__(self, graph: Graph, found: Found, along: Sequence[EdgeKind]) -> None:
        self._graph = graph
        self._found = found
        self._along = along
        self._starts: dict[int, Entity] = {}
        self._depths: dict[int, tuple[Entity, int]] = {}
        self.capped = False

    async def walk(self, incoming: bool, depth: int) -> None:
        """Walk from the entity, against the edges or along them."""
        starts = await self._from(incoming)
        self._starts |= await self._graph.entities(starts)
        walk = await self._graph.walk(starts, self._along, incoming, depth)
        self.capped |= walk.capped or walk.total > len(walk.reached)
        for each in walk.reached:
            self._depths.setdefault(
                each.entity.key, (each.entity, each.depth if incoming else -each.depth)
            )

    async def _from(self, incoming: bool) -> list[int]:
        """What stands for the entity: of a class its constructors or members too."""
        if not incoming:
            return [*self._found.keys, *await members_of(self._graph, self._found)]
        if EdgeKind.REFERENCES in self._along:
            return await changed(self._graph, self._found)
        return await called(self._graph, self._found)

    @property
    def count(self) -> int:
        """How many entities stand around it."""
        return len(self._others)

    @property
    def _others(self) -> list[tuple[Entity, int]]:
        found = [pair for key, pair in self._depths.items() if key not in self._starts]
        return sorted(found, key=lambda pair: abs(pair[1]))

    async def shown(self, limit: int) -> tuple[list[GraphEntity], list[GraphUse]]:
        """The nearest entities and the edges between them. What only stands for the entity, such
        as a member of a class, is among them where an edge leads to it."""
        own = {each.key: each for each in self._found.all}
        nearest = self._others[:limit]
        parts = {key: each for key, each in self._starts.items() if key not in own}
        keys = [*own, *parts, *(entity.key for entity, _ in nearest)]
        edges = await self._edges(keys)
        linked = {end for edge in edges for end in (edge.source, edge.target)}
        nodes = [_node(each, 0) for each in own.values()]
        nodes += [_node(each, 0) for key, each in parts.items() if shown_key(key) in linked]
        return [*nodes, *(_node(entity, depth) for entity, depth in nearest)], edges

    async def _edges(self, keys: Sequence[int]) -> list[GraphUse]:
        """The edges between some entities: of several between the same two, the first kind."""
        found = await self._graph.between(keys, self._along)
        found.sort(key=lambda each: self._along.index(each.kind))
        one = {(each.via, each.entity.key): each for each in reversed(found)}
        return [_use(each) for each in one.values() if each.via != each.entity.key]


def _node(entity: Entity, depth: int) -> GraphEntity:
    said = Ref.of(entity).model_dump(by_alias=False)
    test = entity.test or is_test_file(entity.path)
    return GraphEntity(**said, depth=depth, test=test or None)


def _use(reached: Reached) -> GraphUse:
    return GraphUse(
        source=shown_key(reached.via),
        target=shown_key(reached.entity.key),
        by=use_of(reached),
        at=f"{reached.path}:{reached.line}",
        confidence=reached.confidence,
    )
