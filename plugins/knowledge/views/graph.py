"""The pictures: what stands around a document, and how all documents hang together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateway.contract import Graph, GraphEdge, GraphNode

_MOST = 40
"""The most links, in each direction, that are drawn: a hub may have thousands."""


def neighbourhood(answer: Mapping[str, Any], arguments: Mapping[str, Any]) -> Graph:
    """The graph of an answer of ``related_documents``: what leads to a document on its left, where
    it leads, and what is about the same, on its right."""
    own = _id(arguments)
    nodes = {own: GraphNode(own, arguments["id"], arguments["contentType"], "start")}
    edges: list[GraphEdge] = []
    left_out = 0
    for group in ("backlinks", "links", "near"):
        documents = answer.get(group) or []
        left_out += len(documents[_MOST:])
        for each in documents[:_MOST]:
            other = _id(each)
            nodes.setdefault(other, _node(other, each, faint=group == "near"))
            ends = (other, own) if group == "backlinks" else (own, other)
            edges.append(GraphEdge(*ends, faint=group == "near"))
    more = f" {left_out} others are in the lists alone." if left_out else ""
    title = "An arrow is a link; a dashed one leads to what is about the same." + more
    return Graph(title, list(nodes.values()), edges)


def whole_base(answer: Mapping[str, Any], arguments: Mapping[str, Any]) -> Graph:
    """The graph of an answer of ``map_documents``: documents of a group stand together; where none
    has a group, those of a type do."""
    documents, links = answer["documents"], answer["links"]
    grouped = any(each.get("group") for each in documents)
    nodes = [
        replace(
            _node(_id(each), each, faint=False),
            tool="get_document",
            cluster=(each.get("group") or "In no group") if grouped else each["contentType"],
        )
        for each in documents
    ]
    edges = [GraphEdge(each["source"], each["target"]) for each in links]
    shown = f"{_some(len(nodes), 'document')} and {_some(len(edges), 'link')}"
    left_out, unseen = answer["total"] - len(nodes), answer["totalLinks"] - len(edges)
    more = f" {_some(left_out, 'document')} and {_some(unseen, 'link')} are left out."
    title = f"{shown}; an arrow is a link." + (more if left_out or unseen else "")
    return Graph(title, nodes, edges)


def _some(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _id(document: Mapping[str, Any]) -> str:
    return f"{document['contentType']}/{document['id']}"


def _node(name: str, document: Mapping[str, Any], *, faint: bool) -> GraphNode:
    arguments = {"contentType": document["contentType"], "id": document["id"]}
    return GraphNode(
        name,
        document["title"],
        document["contentType"],
        "faint" if faint else "plain",
        "related_documents",
        arguments,
    )
