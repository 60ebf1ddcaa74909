"""Clusters stand apart in frames of their own, with their boxes in them and every arrow drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.contract import Graph, GraphEdge, GraphNode
from gateway.surfaces.views.graphs.clusters import clustered
from gateway.surfaces.views.graphs.layout import HEIGHT, Frame, laid_out
from tests.examples import examples
from tests.gateway.surfaces.views.graphs.test_layout import apart, ends

IDS = st.integers(0, 14).map(str)
GRAPHS = st.builds(
    lambda ids, names, pairs: Graph(
        "A graph",
        [GraphNode(each, each, cluster=name) for each, name in zip(ids, names, strict=False)],
        [GraphEdge(source, target) for source, target in pairs],
    ),
    st.lists(IDS, unique=True),
    st.lists(st.sampled_from(["", "a", "b" * 60, "<c>"]), min_size=15, max_size=15),
    st.lists(st.tuples(IDS, IDS), max_size=40),
)


def distinct(one: Frame, other: Frame) -> bool:
    return (
        one.x + one.width <= other.x
        or other.x + other.width <= one.x
        or one.y + one.height <= other.y
        or other.y + other.height <= one.y
    )


@given(GRAPHS)
@settings(max_examples=examples(200))
def test_every_box_stands_in_the_frame_of_its_cluster_and_apart_from_the_others(
    graph: Graph,
) -> None:
    layout = clustered(graph)
    names = dict.fromkeys(node.cluster for node in graph.nodes)
    if not any(names):
        assert layout == laid_out(graph)
        return
    frames = {frame.label.whole: frame for frame in layout.frames}
    assert frames.keys() == names.keys()
    assert all(distinct(*pair) for pair in combinations(layout.frames, 2))
    assert [box.node for box in layout.boxes] == list(range(len(graph.nodes)))
    assert all(apart(*pair) for pair in combinations(layout.boxes, 2))
    for box in layout.boxes:
        frame = frames[graph.nodes[box.node].cluster]
        assert frame.x <= box.x
        assert frame.y <= box.y
        assert box.x + box.width <= frame.x + frame.width
        assert box.y + HEIGHT <= frame.y + frame.height
    for frame in layout.frames:
        assert frame.x + frame.width <= layout.width
        assert frame.y + frame.height <= layout.height


@given(GRAPHS)
@settings(max_examples=examples(200))
def test_the_same_arrows_are_drawn_as_without_clusters_each_from_box_to_box(graph: Graph) -> None:
    layout = clustered(graph)
    plain = replace(graph, nodes=[replace(node, cluster="") for node in graph.nodes])
    expected = sorted(way.edge for way in laid_out(plain).ways)
    assert sorted(way.edge for way in layout.ways) == expected
    boxes = {graph.nodes[box.node].id: box for box in layout.boxes}
    for way in layout.ways:
        edge = graph.edges[way.edge]
        for (x, y), node in zip(ends(way.path), (edge.source, edge.target), strict=True):
            box = boxes[node]
            assert min(abs(x - box.x), abs(x - box.x - box.width)) <= 1
            assert abs(y - box.y - HEIGHT / 2) <= 1
