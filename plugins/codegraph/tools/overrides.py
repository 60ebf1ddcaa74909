"""Overriding methods: a call of a method may reach one that overrides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plugins.codegraph.model import EdgeKind, Entity, EntityKind, Sort
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.entity_detail import INHERITS

_MEMBERS = frozenset({EntityKind.METHOD, EntityKind.VARIABLE})
_OWN = frozenset({"__init__", "__new__", "__post_init__", "constructor"})
"""Methods that each class has for itself."""
_MAX_LEVELS = 5
_MAX_METHODS = 20
"""The most base classes, or subclasses, that are examined."""


@dataclass(frozen=True, slots=True)
class Overridden:
    """The members that some members override, and how many entities use them."""

    methods: Sequence[Entity] = ()
    calls: int = 0


async def overridden(graph: Graph, methods: Sequence[Entity]) -> Overridden:
    """The methods that these override: of the same name, in a class or interface above."""
    found = await _same_named(graph, methods, incoming=False)
    if not found:
        return Overridden()
    keys = [each.key for each in found]
    walk = await graph.walk(keys, (EdgeKind.CALLS, EdgeKind.REFERENCES), True, limit=1)
    return Overridden(found, walk.total)


async def implementations(graph: Graph, declared: Entity) -> list[Entity]:
    """The methods that can run where a method is called: those that override it, in classes of
    which an object is constructed somewhere."""
    return [
        each
        for each in await overriding(graph, [declared])
        if each.parent is not None and await is_constructed(graph, each.parent)
    ]


async def is_constructed(graph: Graph, key: int) -> bool:
    """Whether an object of a class, or of one below it, is constructed somewhere."""
    below = await graph.walk([key], INHERITS, True, depth=_MAX_LEVELS, limit=_MAX_METHODS)
    keys = [key, *(each.entity.key for each in below.reached)]
    made = await graph.uses(keys, EdgeKind.REFERENCES, (Sort.CONSTRUCTED,), limit=1)
    return bool(made.reached)


async def overriding(graph: Graph, methods: Sequence[Entity]) -> list[Entity]:
    """The methods that override these: of the same name, in a class below."""
    return await _same_named(graph, methods, incoming=True)


async def _same_named(graph: Graph, members: Sequence[Entity], incoming: bool) -> list[Entity]:
    own = [each for each in members if each.kind in _MEMBERS and each.parent is not None]
    if not own:
        return []
    names = {each.name for each in own}
    around = {each.parent for each in own if each.parent is not None}
    walk = await graph.walk(around, INHERITS, incoming, depth=_MAX_LEVELS, limit=_MAX_METHODS)
    return [
        member
        for reached in walk.reached
        for member in await graph.contained(reached.entity.key)
        if member.kind in _MEMBERS and member.name in names and member.name not in _OWN
    ]
