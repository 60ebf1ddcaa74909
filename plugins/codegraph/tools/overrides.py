"""Overriding methods: a call of a method may reach one that overrides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plugins.codegraph.model import EdgeKind, Entity, EntityKind
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.entity_detail import INHERITS

_MAX_LEVELS = 5
_MAX_METHODS = 20
"""The most base classes, or subclasses, that are examined."""


@dataclass(frozen=True, slots=True)
class Overridden:
    """The methods that some methods override, and the number of their callers."""

    methods: Sequence[Entity] = ()
    calls: int = 0


async def overridden(graph: Graph, methods: Sequence[Entity]) -> Overridden:
    """The methods that these override: of the same name, in a class or interface above."""
    found = await _same_named(graph, methods, incoming=False)
    if not found:
        return Overridden()
    keys = [each.key for each in found]
    walk = await graph.walk(keys, EdgeKind.CALLS, True, limit=1)
    return Overridden(found, walk.total)


async def overriding(graph: Graph, methods: Sequence[Entity]) -> list[Entity]:
    """The methods that override these: of the same name, in a class below."""
    return await _same_named(graph, methods, incoming=True)


async def _same_named(graph: Graph, methods: Sequence[Entity], incoming: bool) -> list[Entity]:
    own = [each for each in methods if each.kind is EntityKind.METHOD and each.parent is not None]
    if not own:
        return []
    names = {each.name for each in own}
    around = {each.parent for each in own if each.parent is not None}
    walk = await graph.walk(around, INHERITS, incoming, depth=_MAX_LEVELS, limit=_MAX_METHODS)
    return [
        member
        for reached in walk.reached
        for member in await graph.contained(reached.entity.key)
        if member.kind is EntityKind.METHOD and member.name in names
    ]
