"""Where the boxes of a graph stand, in pixels, and the ways of its arrows.

Boxes are as high as each other; a column is as wide as its widest box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.contract import Graph
from gateway.surfaces.views.graphs.labels import Label, label
from gateway.surfaces.views.graphs.layers import Spot, layers
from gateway.surfaces.views.graphs.order import Arrow, forward

_Point = tuple[float, float]
HEIGHT, ROW = 38, 50
"""In pixels: the height of a box, and the distance from one to the next below."""
BETWEEN, MARGIN = 64, 12
"""In pixels: the distance between columns, and around all."""


@dataclass(frozen=True, slots=True)
class Box:
    """Where a node stands, in pixels from the upper left.

    Attributes:
        node: the node's place in the graph's list.
        x, y, width: its left, its top, its width.
        label: what is written in it.
    """

    node: int
    x: float
    y: float
    width: float
    label: Label


@dataclass(frozen=True, slots=True)
class Way:
    """The way of an arrow.

    Attributes:
        edge: the edge's place in the graph's list.
        path: the data of an SVG path that runs as the edge does.
        far: whether it passes columns.
    """

    edge: int
    path: str
    far: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a cluster stands: its name above its boxes."""

    x: float
    y: float
    width: float
    height: float
    label: Label


@dataclass(frozen=True, slots=True)
class Layout:
    """A graph that was laid out, with its size in pixels."""

    width: int
    height: int
    boxes: Sequence[Box]
    ways: Sequence[Way]
    frames: Sequence[Frame] = ()


def laid_out(graph: Graph) -> Layout:
    """Lay a graph out, without its clusters.

    Args:
        graph: the graph. Of several edges from one node to another the first is drawn; an edge to
            the node itself, or to one that is not there, is not.
    """
    edges = drawn_edges(graph)
    turned = forward(len(graph.nodes), edges)
    found = layers(len(graph.nodes), (arrow for arrow, _ in turned))
    labels = [label(node.label, node.note) for node in graph.nodes]
    columns = _columns(found.spots, labels)
    boxes = [
        Box(node, columns[spot.column].left, MARGIN + spot.row * ROW, said.width, said)
        for node, (spot, said) in enumerate(zip(found.spots, labels, strict=True))
    ]
    ways = [
        _way(
            edge,
            boxes[arrow[0]],
            boxes[arrow[1]],
            columns,
            [found.spots[arrow[0]], *found.bends.get(arrow, ())],
            backwards,
        )
        for edge, (arrow, backwards) in zip(edges.values(), turned, strict=True)
    ]
    width = max((box.x + box.width for box in boxes), default=0) + MARGIN
    passing = (bend.row for bends in found.bends.values() for bend in bends)
    lowest = max((spot.row for spot in found.spots), default=0)
    height = MARGIN + max(lowest, *passing, 0) * ROW + HEIGHT + MARGIN
    return Layout(round(width), round(height), boxes, ways)


@dataclass(frozen=True, slots=True)
class _Column:
    left: float
    right: float


def drawn_edges(graph: Graph) -> dict[Arrow, int]:
    """The edges that are drawn, by the places of their nodes."""
    numbers = {node.id: number for number, node in enumerate(graph.nodes)}
    found: dict[Arrow, int] = {}
    for at, edge in enumerate(graph.edges):
        source, target = numbers.get(edge.source), numbers.get(edge.target)
        if source is not None and target is not None and source != target:
            found.setdefault((source, target), at)
    return found


def _columns(spots: Sequence[Spot], labels: Sequence[Label]) -> list[_Column]:
    widest = [0.0] * (1 + max((spot.column for spot in spots), default=0))
    for spot, said in zip(spots, labels, strict=True):
        widest[spot.column] = max(widest[spot.column], said.width)
    found: list[_Column] = []
    left = float(MARGIN)
    for width in widest:
        found.append(_Column(left, left + width))
        left += width + BETWEEN
    return found


def _way(
    edge: int,
    source: Box,
    target: Box,
    columns: Sequence[_Column],
    spots: Sequence[Spot],
    backwards: bool,
) -> Way:
    """The way from the right of one box to the left of another: level to the end of its column and
    through each one that it passes, and curved between columns.

    Args:
        edge: the edge's place in the graph's list.
        source, target: the boxes at its left and right ends.
        columns: all columns.
        spots: where it starts, and where it passes.
        backwards: whether the edge runs from right to left.
    """
    points: list[_Point] = []
    for spot in spots:
        column, y = columns[spot.column], _middle(spot)
        points += [(column.left, y), (column.right, y)]
    points[0] = (source.x + source.width, points[0][1])
    points.append((target.x, target.y + HEIGHT / 2))
    # Pairs of points are level; between the pairs are curves.
    pieces = ["L"] * (len(points) - 1)
    pieces[1::2] = ["C"] * len(pieces[1::2])
    if backwards:
        points.reverse()
        pieces.reverse()
    path = [f"M{_at(points[0])}"]
    for piece, here, there in zip(pieces, points, points[1:], strict=False):
        path.append(f"L{_at(there)}" if piece == "L" else _curve(here, there))
    return Way(edge, "".join(path), len(spots) > 1)


def _middle(spot: Spot) -> float:
    return MARGIN + spot.row * ROW + HEIGHT / 2


def _curve(here: _Point, there: _Point) -> str:
    middle = (here[0] + there[0]) / 2
    return f"C{_at((middle, here[1]))} {_at((middle, there[1]))} {_at(there)}"


def _at(point: _Point) -> str:
    return f"{point[0]:.0f} {point[1]:.0f}"
