"""Boxes that belong together in frames: each cluster is laid out by itself, the frames in rows, and
arrows between clusters run across."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from math import sqrt

from gateway.contract import Graph
from gateway.surfaces.views.graphs.labels import Label, label
from gateway.surfaces.views.graphs.layout import (
    HEIGHT,
    MARGIN,
    Box,
    Frame,
    Layout,
    Way,
    drawn_edges,
    laid_out,
)

HEAD = 22
"""In pixels: the room of a frame's name."""
GAP = 40
"""In pixels: the distance between frames, in which arrows run."""
_SHAPE = 1.6
"""How much wider than high the whole is meant to be."""
_BULGE = 28
"""In pixels: how far an arrow runs out between boxes that stand above each other."""
_NUMBER = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True)
class _Part:
    """A cluster that was laid out: its nodes and edges by their places in the graph."""

    label: Label
    nodes: Sequence[int]
    edges: Sequence[int]
    layout: Layout

    @property
    def width(self) -> float:
        return max(self.layout.width, self.label.width + 2 * MARGIN)

    @property
    def height(self) -> float:
        return self.layout.height + HEAD


def clustered(graph: Graph) -> Layout:
    """Lay a graph out, with its clusters in frames; one without clusters as it is."""
    if not any(node.cluster for node in graph.nodes):
        return laid_out(graph)
    parts = _parts(graph)
    boxes: list[Box] = []
    ways: list[Way] = []
    frames: list[Frame] = []
    for part, x, y in _in_rows(parts):
        frames.append(Frame(x, y, part.width, part.height, part.label))
        boxes += [
            replace(box, node=part.nodes[box.node], x=box.x + x, y=box.y + y + HEAD)
            for box in part.layout.boxes
        ]
        ways += [
            replace(way, edge=part.edges[way.edge], path=_moved(way.path, x, y + HEAD))
            for way in part.layout.ways
        ]
    boxes.sort(key=lambda box: box.node)
    inside = {way.edge for way in ways}
    across = ((arrow, at) for arrow, at in drawn_edges(graph).items() if at not in inside)
    ways += [Way(at, _across(boxes[arrow[0]], boxes[arrow[1]]), far=True) for arrow, at in across]
    width = max(frame.x + frame.width for frame in frames) + MARGIN
    height = max(frame.y + frame.height for frame in frames) + MARGIN
    return Layout(round(width), round(height), boxes, ways, frames)


def _parts(graph: Graph) -> list[_Part]:
    """The clusters, each laid out, the largest first."""
    members: dict[str, list[int]] = {}
    for number, node in enumerate(graph.nodes):
        members.setdefault(node.cluster, []).append(number)
    inside: dict[str, list[int]] = {name: [] for name in members}
    clusters = {node.id: node.cluster for node in graph.nodes}
    for at in drawn_edges(graph).values():
        edge = graph.edges[at]
        if clusters[edge.source] == clusters[edge.target]:
            inside[clusters[edge.source]].append(at)
    found = []
    for name, nodes in members.items():
        edges = inside[name]
        own = replace(
            graph,
            nodes=[graph.nodes[each] for each in nodes],
            edges=[graph.edges[each] for each in edges],
        )
        found.append(_Part(label(name), nodes, edges, laid_out(own)))
    return sorted(found, key=lambda part: -part.width * part.height)


def _in_rows(parts: Sequence[_Part]) -> Iterator[tuple[_Part, float, float]]:
    """Each part with its left and its top: in rows, as wide as makes the whole a page."""
    area = sum((part.width + GAP) * (part.height + GAP) for part in parts)
    widest = max(sqrt(area * _SHAPE), *(part.width for part in parts))
    x = y = float(MARGIN)
    below = 0.0
    for part in parts:
        if x > MARGIN and x + part.width > MARGIN + widest:
            x, y = float(MARGIN), y + below + GAP
            below = 0.0
        yield part, x, y
        x += part.width + GAP
        below = max(below, part.height)


def _moved(path: str, x: float, y: float) -> str:
    """A path with all of its points moved; they are pairs of whole numbers."""
    steps = cycle((round(x), round(y)))
    return _NUMBER.sub(lambda found: f"{int(found[0]) + next(steps)}", path)


def _across(source: Box, target: Box) -> str:
    """The way between boxes of two clusters: from the side that is nearer, to that of the other."""
    here, there = source.y + HEIGHT / 2, target.y + HEIGHT / 2
    if target.x >= source.x + source.width:
        start, end = source.x + source.width, target.x
        bend = (start + end) / 2
    elif target.x + target.width <= source.x:
        start, end = source.x, target.x + target.width
        bend = (start + end) / 2
    else:
        start, end = source.x + source.width, target.x + target.width
        bend = max(start, end) + _BULGE
    points = ((bend, here), (bend, there), (end, there))
    curve = " ".join(f"{x:.0f} {y:.0f}" for x, y in points)
    return f"M{start:.0f} {here:.0f}C{curve}"
