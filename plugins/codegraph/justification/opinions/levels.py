"""The order in which models are asked: what is used before what uses it, entry points last."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.opinions.claims import MAX_ENTITIES

Group = tuple[int, ...]
"""The positions of entities that are asked about together: one, or some of a circle."""


def levels(
    columns: Columns,
    order: Sequence[Sequence[int]],
    wanted: Callable[[int], bool],
    begins: Callable[[int], bool],
) -> list[list[Group]]:
    """The groups that are asked about, level by level.

    Whatever a group uses is in a level before its own, and what uses an entry point after that of
    the entry point. A level without anything to ask is left out.

    Args:
        columns: the graph.
        order: components, leaves first (``order.py``).
        wanted: whether the entity at a position is asked about.
        begins: whether it is an entry point.
    """
    plain = _depths(columns, order, wanted, lambda at: 0)
    first = 1 + max((plain[group[0]] for group in order if group), default=0)
    depths = _depths(columns, order, wanted, lambda at: first if begins(at) else 0)
    found: dict[int, list[Group]] = {}
    for group in order:
        asked = sorted(at for at in group if wanted(at))
        for begin in range(0, len(asked), MAX_ENTITIES):
            part = tuple(asked[begin : begin + MAX_ENTITIES])
            found.setdefault(depths[group[0]], []).append(part)
    return [found[depth] for depth in sorted(found)]


def _depths(
    columns: Columns,
    order: Sequence[Sequence[int]],
    wanted: Callable[[int], bool],
    least: Callable[[int], int],
) -> list[int]:
    """How many groups that are asked about lie below each entity, by position."""
    depths = [0] * len(columns.entities)
    above = [0] * len(columns.entities)  # the depth of what uses it
    for group in order:
        members = set(group)
        used = (above[each] for at in group for each in columns.callees[at] if each not in members)
        depth = max(max(used, default=0), max((least(at) for at in group), default=0))
        asked = any(wanted(at) for at in group)
        for at in group:
            depths[at], above[at] = depth, depth + asked
    return depths
