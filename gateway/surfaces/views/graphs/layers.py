"""Sugiyama's layers: for each node of a graph its column, and its place in the column.

``fast-sugiyama`` finds them, with as few crossings as it can in short time. It ends the process on
what it does not expect, so it is given nothing but arrows without a circle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gateway.surfaces.views.graphs.order import Arrow

BEND = 0.4
"""The room of an arrow that passes a column, as a share of a node's."""
_BETWEEN_PARTS = 1.5
"""The distance between parts of the graph that do not hang together, in nodes."""
_ALONE_IN_A_ROW = 4


class Spot(NamedTuple):
    """A place: the column, counted from the left, and the row, 1 for each node."""

    column: int
    row: float


class Layers(NamedTuple):
    """Where everything stands.

    Attributes:
        spots: of each node.
        bends: of an arrow that passes columns, its places there, from its source on.
    """

    spots: Sequence[Spot]
    bends: Mapping[Arrow, Sequence[Spot]]


def layers(count: int, arrows: Iterable[Arrow]) -> Layers:
    """Find a place for each node.

    Args:
        count: how many nodes there are, numbered from 0.
        arrows: from one to another; together without a circle.
    """
    given = sorted(set(arrows))
    linked = sorted({node for arrow in given for node in arrow})
    spots: dict[int, Spot] = {}
    bends: dict[Arrow, list[Spot]] = {}
    row = 0.0
    for places, steps in _parts(linked, given):
        # The library counts layers from the last one, and the page from the first.
        first, top = max(y for _, y in places.values()), min(x for x, _ in places.values())
        here = {node: Spot(round(first - y), row + x - top) for node, (x, y) in places.items()}
        here = _first_on_top(here, len(linked))
        spots |= {linked[node]: spot for node, spot in here.items() if node < len(linked)}
        bends |= _bends(here, steps, linked)
        row = max(spot.row for spot in here.values()) + _BETWEEN_PARTS
    alone = [node for node in range(count) if node not in spots]
    for at, node in enumerate(alone):
        spots[node] = Spot(at % _ALONE_IN_A_ROW, row + at // _ALONE_IN_A_ROW)
    return Layers([spots[node] for node in range(count)], bends)


def _first_on_top(spots: dict[int, Spot], count: int) -> dict[int, Spot]:
    """The spots of a part, turned over where that brings the first nodes to the top: a mirrored
    layout is as good for the library, and not for who reads it."""
    rows = [spot.row for spot in spots.values()]
    middle = (max(rows) + min(rows)) / 2
    nodes = [number for number in spots if number < count]
    centre = sum(nodes) / len(nodes)
    if sum((number - centre) * (spots[number].row - middle) for number in nodes) >= 0:
        return spots
    return {number: Spot(spot.column, 2 * middle - spot.row) for number, spot in spots.items()}


def _parts(
    linked: Sequence[int], arrows: Sequence[Arrow]
) -> list[tuple[dict[int, tuple[float, float]], Sequence[Arrow]]]:
    """The parts that hang together: the places of their nodes, and the steps of their arrows. Nodes
    have their place in ``linked`` as a number; the numbers above are bends."""
    from fast_sugiyama import from_edges

    numbers = {node: number for number, node in enumerate(linked)}
    found = from_edges(
        [(numbers[source], numbers[target]) for source, target in arrows],
        minimum_length=1,
        vertex_spacing=1,
        dummy_vertices=True,
        dummy_size=BEND,
        transpose=False,  # a tenth of the time, for few crossings more
        check_layout=False,
    )
    # Its types allow names for nodes; these are all numbers.
    return [(dict(places), steps or ()) for places, _, _, steps in found]  # type: ignore[misc, arg-type]


def _bends(
    spots: Mapping[int, Spot], steps: Iterable[Arrow], linked: Sequence[int]
) -> dict[Arrow, list[Spot]]:
    """The bends of each arrow that has some."""
    after: dict[int, list[int]] = defaultdict(list)
    for source, target in steps:
        after[source].append(target)
    found: dict[Arrow, list[Spot]] = {}
    for source in [each for each in after if each < len(linked)]:
        for target in after[source]:
            way = []
            while target >= len(linked):
                way.append(spots[target])
                target = after[target][0]
            if way:
                found[linked[source], linked[target]] = way
    return found
