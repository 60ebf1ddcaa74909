"""The picture of a system: features, the infrastructure beneath them, and what leads where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.contract import Graph, GraphEdge, GraphNode
from gateway.toolkit.counts import counted

MAX_BOXES = 40
"""The most features that are drawn; the list beside the picture has all of them."""
_FRAMES = {"VERTICAL": "Features", "HORIZONTAL": "Infrastructure", "UTILITY": "Helpers"}


def blueprint_graph(answer: Mapping[str, Any], arguments: Mapping[str, Any]) -> Graph:
    """The graph of an answer of ``get_blueprint``."""
    repo = answer["meta"]["repo"]
    verticals = answer["verticals"][:MAX_BOXES]
    helpers = [answer["utilities"]] if answer.get("utilities") else []
    shown = [*verticals, *answer["horizontals"], *helpers]
    left = len(answer["verticals"]) - len(verticals) + answer["leftOut"]
    more = f" {left} more {'is' if left == 1 else 'are'} not drawn." if left else ""
    count = counted(len(verticals), "feature")
    title = f"{count} of {repo}. An arrow leads to what a feature rests on."
    return Graph(title + more, [_node(each, repo) for each in shown], [*_edges(shown)])


def _node(each: Mapping[str, Any], repo: str) -> GraphNode:
    flows = f", {counted(each['flowCount'], 'flow')}" if each["flowCount"] else ""
    entities = counted(each["entityCount"], "entity", "entities")
    return GraphNode(
        each["id"],
        each["name"],
        f"{entities} in {counted(each['fileCount'], 'file')}{flows}",
        "start" if each["type"] == "VERTICAL" else "plain",
        "get_blueprint",
        {"feature": each["id"], "repo": repo},
        _FRAMES[each["type"]],
    )


def _edges(shown: list[Mapping[str, Any]]) -> Iterator[GraphEdge]:
    """From each feature to the technologies that its code calls, and to the helpers."""
    ids = {(each["type"] == "VERTICAL", each["name"]): each["id"] for each in shown}
    for each in shown:
        for name in each["horizontalDependencies"]:
            if (False, name) in ids:
                yield GraphEdge(each["id"], ids[False, name], "calls it")
        if each["type"] == "UTILITY":
            for name in each["consumers"]:
                if (True, name) in ids:
                    yield GraphEdge(ids[True, name], each["id"], "calls it", faint=True)
