"""Dead code: what nothing uses, and nothing may use unseen (decision 0052's proof, over all)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plugins.codegraph.health.code_base import CALLABLE, CodeBase
from plugins.codegraph.health.loaded_graph import LoadedGraph
from plugins.codegraph.health.visibility import Outside
from plugins.codegraph.model import Entity, EntityKind
from plugins.codegraph.tools.doubts import Case, doubts_of
from plugins.codegraph.tools.entity_lookup import TYPES, Found
from plugins.codegraph.tools.notes import completeness

ROUNDS = 20
"""How long a chain of dead code may be: what only dead code uses is dead, and so on."""
_SURE, _CHAINED = 0.97, 0.93
"""How often a finding is right, at least: an estimate, set by hand."""


@dataclass(frozen=True, slots=True)
class Dead:
    """Something dead.

    Attributes:
        entity: it.
        users: what uses it, all of it dead too; empty where nothing does.
    """

    entity: Entity
    users: Sequence[Entity] = ()

    @property
    def confidence(self) -> float:
        """How sure it is, from 0 to 1."""
        return _CHAINED if self.users else _SURE


async def dead_code(code: CodeBase, graph: LoadedGraph, outside: Outside) -> list[Dead]:
    """The functions, methods, classes and interfaces that are dead, without what is in others.

    It is what ``safe_to_delete`` calls safe, without what programs elsewhere may import, and with
    what only dead code uses.
    """
    found: dict[int, Dead] = {}
    considered = _candidates(code, outside)
    doubted: set[int] = set()
    for _ in range(ROUNDS):
        gone = code.within([each for at in found for each in code.same(at)])
        free = ~code.used_from_outside(gone) & ~gone
        before = len(found)
        for at in (each for each in considered if free[each] and each not in doubted):
            same = code.same(at)
            if at != same[0] or not free[same].all():
                continue  # an overload or a setter goes with the rest
            case = _case(code, graph, [code.entities[each] for each in same])
            complete = await completeness(graph, case.found.all, references=True)
            if await doubts_of(case, complete):
                doubted.add(at)
            else:
                found[at] = Dead(case.found.entity, _users(code, same))
        if len(found) == before:
            break
    return _outermost(code, found)


def _candidates(code: CodeBase, outside: Outside) -> list[int]:
    """What may be dead: no test, not to be seen from elsewhere, and named nowhere else."""
    named = {each.name for each in code.layer.mentions}
    named |= {each.name for each in code.layer.unresolved}
    return [
        at
        for at, each in enumerate(code.entities)
        if (each.kind in CALLABLE or each.kind in TYPES)
        and code.is_code(each)
        and not code.is_aside[at]
        and each.name not in named
        and each.name not in outside.named_in_data
        and not outside.may_use(each)
        and _has_a_place(code, at)
    ]


def _has_a_place(code: CodeBase, at: int) -> bool:
    """Whether an entity belongs to its file or to a class. What is in an object's value, or is
    stored in a member of something else, is found by names that nobody writes; what is local to a
    function is the business of linters."""
    parent = int(code.parent[at])
    if parent < 0:
        return False
    around, entity = code.entities[parent], code.entities[at]
    if around.kind is EntityKind.FILE:
        return entity.qualified == entity.name
    return around.kind in TYPES and entity.qualified == f"{around.qualified}.{entity.name}"


def _case(code: CodeBase, graph: LoadedGraph, same: Sequence[Entity]) -> Case:
    within = code.within([code.number[each.key] for each in same])
    keys = frozenset(code.entities[at].key for at in np.flatnonzero(within).tolist())
    longest = max(same, key=lambda each: (each.end_line - each.line, each.line))
    lines = code.text(longest.path).decode("utf-8", "replace").split("\n")
    return Case(graph, Found(longest, tuple(same)), keys, lines)


def _users(code: CodeBase, same: Sequence[int]) -> list[Entity]:
    inside = code.within(same)
    edges = np.flatnonzero(code.uses & inside[code.target] & ~inside[code.source])
    return [code.entities[each] for each in dict.fromkeys(code.source[edges].tolist())]


def _outermost(code: CodeBase, found: dict[int, Dead]) -> list[Dead]:
    """Without what is in something else that is dead; the longest first."""
    kept = []
    for at, dead in found.items():
        around = int(code.parent[at])
        while around >= 0 and around not in found:
            around = int(code.parent[around])
        if around < 0:
            kept.append(dead)
    return sorted(kept, key=lambda each: (-_lines(each.entity), each.entity.path, each.entity.line))


def _lines(entity: Entity) -> int:
    return entity.end_line - entity.line + 1
