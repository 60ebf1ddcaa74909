"""Callers and callees that the code does not name: by way of an override, or of a route."""

from __future__ import annotations

from dataclasses import dataclass

from plugins.codegraph.store.graph import Reached
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.result_models import Edge, edge


@dataclass(frozen=True, slots=True)
class Through:
    """A caller or callee by way of something else.

    Attributes:
        reached: the entity, and where the code calls.
        by: what is called there: the method that is overridden, the route that is requested.
        graph: the graph that the entity is in.
    """

    reached: Reached
    by: str
    graph: Graph

    def edge(self, asked: Graph) -> Edge:
        """The model, for an answer from the graph ``asked``."""
        repo = self.graph.repo
        other = repo.name if repo.id != asked.repo.id else None
        return edge(self.reached).model_copy(update={"through": self.by, "repo": other})
