"""Circles in a graph: its strongly connected components, and the shortest way round one."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(edges: Mapping[Node, Collection[Node]]) -> list[list[Node]]:
    """The strongly connected components of a graph, each after those that it leads to.

    Args:
        edges: where each node leads; nodes that lead nowhere may be missing.
    """
    # Loaded late: only reports need it.
    import rustworkx

    nodes = list(dict.fromkeys([*edges, *(to for each in edges.values() for to in each)]))
    number = {node: at for at, node in enumerate(nodes)}
    graph = rustworkx.PyDiGraph(multigraph=False)
    graph.add_nodes_from(range(len(nodes)))
    graph.add_edges_from_no_data(
        [(number[node], number[to]) for node, each in edges.items() for to in each]
    )
    found = rustworkx.strongly_connected_components(graph)
    return [[nodes[at] for at in each] for each in found]


def cycles(edges: Mapping[Node, Collection[Node]]) -> list[list[Node]]:
    """The components of a graph in which one can go in a circle; a node that leads to itself
    alone is none."""
    return [each for each in components(edges) if len(each) > 1]


def shortest_cycle(
    edges: Mapping[Node, Collection[Node]], among: Collection[Node], start: Node
) -> list[Node]:
    """The shortest way from a node back to itself, within a component.

    Args:
        edges: where each node leads.
        among: the component.
        start: a node of it.

    Returns:
        The nodes of the way, from ``start`` on, without its end, which is ``start`` again.
    """
    came: dict[Node, Node] = {}
    todo = deque([start])
    while todo:
        node = todo.popleft()
        for after in edges.get(node, ()):
            if after == start:
                way = [node]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return way[::-1]
            if after in among and after not in came:
                came[after] = node
                todo.append(after)
    return []
