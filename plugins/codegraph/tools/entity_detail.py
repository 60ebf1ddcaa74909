"""Entities in full: with their source text, callers and callees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateway.contract import piece
from plugins.codegraph.model import EdgeKind, Entity, EntityKind
from plugins.codegraph.store.graph import Walk
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.entity_lookup import CALLABLE, TYPES
from plugins.codegraph.tools.result_models import Linked

MAX_BODY_BYTES = 2_000
"""The most bytes of source of one of several entities: four of them fit on a page."""
MAX_NEIGHBOURS = 5
"""The most callers and callees listed with one of several full entities."""
MAX_MEMBERS = 60
"""The most members listed of a class."""
INHERITS = (EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS)


class EntityDetail:
    """Details of a graph's entities; reads each file's text once.

    Args:
        graph: the graph.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._lines: dict[str, list[bytes]] = {}

    async def source(self, entity: Entity) -> str:
        """The source of an entity with its decorators; "" if it is not stored."""
        if entity.path not in self._lines:
            whole = await self._graph.source(entity.path)
            self._lines[entity.path] = [] if whole is None else whole.split(b"\n")
        lines = self._lines[entity.path]
        if entity.kind is not EntityKind.FILE:
            lines = lines[_first(lines, entity.line - 1) : entity.end_line]
        return b"\n".join(lines).decode("utf-8", "replace")

    async def body(self, entity: Entity) -> dict[str, Any]:
        """The fields of ``Body`` for one of several entities."""
        text = await self.source(entity)
        shown = piece(text, 0, MAX_BODY_BYTES)
        fields: dict[str, Any] = {
            "end_line": entity.end_line,
            "language": entity.language,
            "source": shown.text or None,
            "source_cut": True if shown.next_offset is not None else None,
        }
        if entity.kind in CALLABLE:
            for direction, incoming in (("caller", True), ("callee", False)):
                walk = await self.calls(entity.key, incoming, MAX_NEIGHBOURS)
                fields[f"{direction}s"] = [Linked.of(each) for each in walk.reached]
                fields[f"{direction}_count"] = walk.total
        elif entity.kind in TYPES:
            members = await self._graph.contained(entity.key)
            fields["members"] = [each.name for each in members[:MAX_MEMBERS]]
            bases = await self._graph.walk([entity.key], INHERITS, False)
            fields["bases"] = [each.entity.qualified for each in bases.reached]
        return fields

    async def calls(self, key: int, incoming: bool, limit: int) -> Walk:
        """The direct callers of an entity (``incoming``), or its direct callees."""
        return await self._graph.walk([key], EdgeKind.CALLS, incoming, limit=limit)


def _first(lines: Sequence[bytes], at: int) -> int:
    """The index of the first decorator, annotation or attribute directly above a line."""
    while 0 < at <= len(lines) and lines[at - 1].lstrip().startswith((b"@", b"#[")):
        at -= 1
    return at
