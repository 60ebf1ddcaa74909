"""The picture of a workflow's plan."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from gateway.contract import Graph, GraphEdge, GraphNode


def plan(answer: Mapping[str, Any], arguments: Mapping[str, Any]) -> Graph:
    """The graph of an answer of ``get_workflow``: its stages in turn, and the steps of each."""
    stages = answer["stages"]
    nodes: list[GraphNode] = []
    edges = [
        GraphEdge(_stage(one), _stage(next_one)) for one, next_one in pairwise(range(len(stages)))
    ]
    for at, stage in enumerate(stages):
        nodes.append(GraphNode(_stage(at), stage["name"], f"stage {at + 1}", "group"))
        for number, step in enumerate(stage["items"]):
            name = f"{_stage(at)}/{number}"
            kind = step["type"].replace("_", "-").lower()
            nodes.append(GraphNode(name, step["name"], f"{number + 1}. {kind}"))
            edges.append(GraphEdge(_stage(at), name, faint=True))
    return Graph("The stages follow each other; each leads to its steps.", nodes, edges)


def _stage(at: int) -> str:
    return f"stage {at}"
