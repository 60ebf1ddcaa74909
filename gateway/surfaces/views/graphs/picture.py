"""A graph as SVG: in a figure of a page, or in a file of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gateway.contract import Graph
from gateway.surfaces.views.graphs.clusters import clustered
from gateway.surfaces.views.graphs.layout import HEIGHT

SVG_MEDIA_TYPE = "image/svg+xml"
_STATIC = Path(__file__).parents[2] / "pages" / "static"
_COLOUR = re.compile(r"--([\w-]+): light-dark\((#\w+),")
_VARIABLE = re.compile(r"var\(--([\w-]+)\)")


def figure(graph: Graph, link: Callable[..., Any], address: str) -> Mapping[str, Any]:
    """What ``picture.html`` shows.

    Args:
        graph: the graph, which is laid out here.
        link: the attributes of a link to what a tool of the plugin answers.
        address: where the picture is to be had as a file; "" for nowhere.
    """
    numbers = {node.id: number for number, node in enumerate(graph.nodes)}
    return {
        "graph": graph,
        "layout": clustered(graph),
        "numbers": numbers,
        "height": HEIGHT,
        "link": link,
        "address": address,
    }


@cache
def own_style() -> str:
    """The style sheet of a picture in a file: the rules of graphs, with the light colours.

    The colours are written out, since programs that open such files know no variables.
    """
    colours = dict(_COLOUR.findall((_STATIC / "tokens.css").read_text(encoding="utf-8")))
    rules = (_STATIC / "graphs.css").read_text(encoding="utf-8")
    drawn = (line for line in rules.splitlines() if line.startswith("svg.graph"))
    return _VARIABLE.sub(lambda found: colours.get(found[1], "inherit"), "\n".join(drawn))
