"""Strongly connected components, against the definition of them."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from plugins.codegraph.health.components import components, cycles, shortest_cycle

Graph = Mapping[int, frozenset[int]]
NODES = st.integers(0, 9)
GRAPHS: st.SearchStrategy[Graph] = st.dictionaries(NODES, st.frozensets(NODES, max_size=4))


def reached(graph: Graph, start: int) -> set[int]:
    """What can be reached from a node by at least one step."""
    found: set[int] = set()
    todo = [start]
    while todo:
        new = graph.get(todo.pop(), frozenset()) - found
        found |= new
        todo += new
    return found


def by_definition(graph: Graph) -> set[frozenset[int]]:
    """The nodes that reach each other, for each node."""
    nodes = set(graph).union(*graph.values())
    ahead = {each: reached(graph, each) for each in nodes}
    return {frozenset({each} | {to for to in ahead[each] if each in ahead[to]}) for each in nodes}


@given(GRAPHS)
def test_components_are_the_nodes_that_reach_each_other(graph: Graph) -> None:
    found = components(graph)
    assert {frozenset(each) for each in found} == by_definition(graph)
    assert sum(map(len, found)) == len(set(graph).union(*graph.values()))


@given(GRAPHS)
def test_each_component_comes_after_those_that_it_leads_to(graph: Graph) -> None:
    found = components(graph)
    place = {node: at for at, each in enumerate(found) for node in each}
    assert all(place[to] <= place[node] for node, each in graph.items() for to in each)


@given(GRAPHS)
def test_a_shortest_cycle_goes_round_and_no_other_is_shorter(graph: Graph) -> None:
    for among in cycles(graph):
        for start in among:
            way = shortest_cycle(graph, among, start)
            ahead = [*way[1:], way[0]]
            assert all(to in graph[node] for node, to in zip(way, ahead, strict=True))
            assert way[0] == start
            assert len(way) == steps_round(graph, start)


def steps_round(graph: Graph, start: int) -> int:
    front, steps = {start}, 0
    while True:
        front = {to for node in front for to in graph.get(node, frozenset())}
        steps += 1
        if start in front:
            return steps


def test_a_long_chain_is_no_deep_recursion() -> None:
    chain = {each: [each + 1] for each in range(50_000)}
    assert len(components(chain)) == 50_001
    assert len(cycles({**chain, 50_000: [0]})) == 1
