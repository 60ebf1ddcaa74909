"""Graphs that a view draws: what is in them, and nothing of where it stands.

Plugins reach these names through :mod:`gateway.contract`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

NodeKind = Literal["plain", "start", "test", "group", "faint"]
"""How a node looks: ``start`` is what the graph is about, ``group`` holds others together."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A box of a graph.

    Attributes:
        id: tells it from the others.
        label: its first line.
        note: its second line, in small print.
        kind: how it looks.
        tool: the tool of the plugin that shows more of it, by the name that the plugin declares;
            "" for none. The box is then a link to what the tool answers.
        arguments: what that tool is called with.
        cluster: boxes of one cluster stand together, in a frame with this name; "" for none.
    """

    id: str
    label: str
    note: str = ""
    kind: NodeKind = "plain"
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An arrow of a graph.

    Attributes:
        source, target: the ids of two nodes.
        label: what it is, told where one points at it.
        faint: whether it is less sure, or matters less, than others.
    """

    source: str
    target: str
    label: str = ""
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph that the portal lays out and draws, from left to right along its arrows.

    Arrows in a circle, to the node itself, between the same two nodes, or to a node that is not
    there do no harm.

    Attributes:
        title: what it shows, in a sentence; it stands below the picture.
        nodes: its boxes.
        edges: its arrows.
    """

    title: str
    nodes: Sequence[GraphNode]
    edges: Sequence[GraphEdge]
