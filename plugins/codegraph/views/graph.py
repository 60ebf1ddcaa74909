"""The picture of the calls around an entity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.contract import Graph, GraphEdge, GraphNode
from gateway.toolkit.counts import counted

_SURE = 0.9
"""Edges that are less sure than this are drawn faintly."""


def call_graph(answer: Mapping[str, Any], arguments: Mapping[str, Any]) -> Graph:
    """The graph of an answer of ``get_call_graph``."""
    repo, nodes = answer["meta"]["repo"], answer["nodes"]
    left, capped = answer["leftOut"], answer.get("capped")
    more = f" {'More than ' if capped else ''}{left} others are left out." if left else ""
    named = nodes[0]["name"]
    count = counted(len(nodes), "entity", "entities")
    title = f"{count} around {named}. An arrow leads from what uses to what is used."
    return Graph(
        title + more,
        [_node(each, repo) for each in nodes],
        [
            GraphEdge(
                each["source"],
                each["target"],
                f"{each['by']} at {each['at']}",
                each["confidence"] < _SURE,
            )
            for each in answer["edges"]
        ],
    )


def _node(entity: Mapping[str, Any], repo: str) -> GraphNode:
    kind = "plain"
    if entity["depth"] == 0:
        kind = "start"
    elif entity.get("test"):
        kind = "test"
    return GraphNode(
        entity["key"],
        entity["name"],
        f"{entity['file']}:{entity['line']}",
        kind,  # type: ignore[arg-type]
        "get_call_graph",
        {"name": entity["key"], "repo": repo, "direction": "both"},
    )
