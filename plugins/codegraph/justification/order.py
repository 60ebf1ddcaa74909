"""The order in which entities are judged: what is used before what uses it.

Entities that use each other in a circle (a strongly connected component) are judged as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from plugins.codegraph.justification.columns import Columns


def components(columns: Columns) -> Sequence[Sequence[int]]:
    """The positions of all entities in groups, leaves first, entry points last.

    Args:
        columns: the graph.
    """
    # Loaded late: it takes numpy with it, and only this job needs it.
    import rustworkx

    graph = rustworkx.PyDiGraph(multigraph=False)
    graph.add_nodes_from(range(len(columns.entities)))
    graph.add_edges_from_no_data(
        [(at, callee) for at, found in enumerate(columns.callees) for callee in found]
    )
    # Tarjan's algorithm closes a component after all that it leads to.
    found: Sequence[Sequence[int]] = rustworkx.strongly_connected_components(graph)
    return found
