"""Graphs of every shape are laid out: boxes apart, arrows from box to box."""

from __future__ import annotations

import re
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.contract import Graph, GraphEdge, GraphNode
from gateway.surfaces.views.graphs.layout import HEIGHT, Box, laid_out
from gateway.surfaces.views.graphs.order import forward
from tests.examples import examples

IDS = st.integers(0, 14).map(str)
GRAPHS = st.builds(
    lambda ids, pairs, label: Graph(
        "A graph",
        [GraphNode(each, label * int(each), each) for each in ids],
        [GraphEdge(source, target) for source, target in pairs],
    ),
    st.lists(IDS, unique=True),
    st.lists(st.tuples(IDS, IDS), max_size=40),
    st.sampled_from(["", "a", "\u6d77", "<&\u202e"]),
)


def apart(one: Box, other: Box) -> bool:
    return (
        one.x + one.width <= other.x
        or other.x + other.width <= one.x
        or one.y + HEIGHT <= other.y
        or other.y + HEIGHT <= one.y
    )


def ends(path: str) -> tuple[tuple[float, float], tuple[float, float]]:
    numbers = [float(each) for each in re.findall(r"-?\d+", path)]
    return (numbers[0], numbers[1]), (numbers[-2], numbers[-1])


@given(GRAPHS)
@settings(max_examples=examples(200))
def test_boxes_stand_apart_inside_the_picture(graph: Graph) -> None:
    layout = laid_out(graph)
    assert [box.node for box in layout.boxes] == list(range(len(graph.nodes)))
    assert all(apart(*pair) for pair in combinations(layout.boxes, 2))
    for box in layout.boxes:
        assert box.x >= 0 <= box.y
        assert box.x + box.width <= layout.width
        assert box.y + HEIGHT <= layout.height


@given(GRAPHS)
@settings(max_examples=examples(200))
def test_every_edge_is_drawn_once_from_its_source_to_its_target(graph: Graph) -> None:
    layout = laid_out(graph)
    boxes = {graph.nodes[box.node].id: box for box in layout.boxes}
    drawn = [graph.edges[way.edge] for way in layout.ways]
    known = {
        (edge.source, edge.target)
        for edge in graph.edges
        if edge.source != edge.target and {edge.source, edge.target} <= boxes.keys()
    }
    assert sorted((edge.source, edge.target) for edge in drawn) == sorted(known)
    for edge, way in zip(drawn, layout.ways, strict=True):
        for (x, y), node in zip(ends(way.path), (edge.source, edge.target), strict=True):
            box = boxes[node]
            assert x in (round(box.x), round(box.x + box.width))
            assert abs(y - box.y - HEIGHT / 2) <= 1


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda arrow: arrow[0] != arrow[1])
    )
)
@settings(max_examples=examples(200))
def test_arrows_are_turned_until_none_closes_a_circle(arrows: list[tuple[int, int]]) -> None:
    ordered = forward(10, arrows)
    for (source, target), (arrow, turned) in zip(arrows, ordered, strict=True):
        assert arrow == ((target, source) if turned else (source, target))
    left = {arrow for arrow, _ in ordered}
    while left:  # take away what nothing leads to, until nothing is left
        targets = {target for _, target in left}
        free = {arrow for arrow in left if arrow[0] not in targets}
        assert free
        left -= free


def test_a_graph_without_circles_runs_from_left_to_right() -> None:
    nodes = [GraphNode(each, each) for each in "abcd"]
    edges = [GraphEdge(*pair) for pair in ("ab", "bc", "ac", "dc")]
    left, middle, right, _ = laid_out(Graph("", nodes, edges)).boxes
    assert left.x + left.width < middle.x
    assert middle.x + middle.width < right.x


def test_what_is_too_long_for_a_box_is_cut_a_label_at_its_end_and_a_path_at_its_start() -> None:
    (box,) = laid_out(
        Graph("", [GraphNode("a", "name" * 20, "folder/" * 20 + "file.py:7")], [])
    ).boxes
    assert box.label.text.startswith("name")
    assert box.label.text.endswith("\u2026")
    assert box.label.note.startswith("\u2026")
    assert box.label.note.endswith("file.py:7")
    assert "name" * 20 in box.label.whole
