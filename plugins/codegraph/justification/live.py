"""What facts say of a file that a person has changed and not committed, judged when asked."""

from __future__ import annotations

import asyncio

from plugins.codegraph.justification.columns import JUSTIFIED, Columns
from plugins.codegraph.justification.justify import NOBODY, justify
from plugins.codegraph.justification.opinions.opinion import known
from plugins.codegraph.justification.outline import Outline
from plugins.codegraph.justification.signals import NOTHING, place_of, read_signals
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.model import EdgeKind, Entity
from plugins.codegraph.store.stored_graph import Graph

_USES = (EdgeKind.CALLS, EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS)


async def code_of(graph: Graph, entity: Entity) -> int:
    """A number of an entity's lines as they are now (``EntitySignals.code``)."""
    source = await graph.source(entity.path) or b""
    found = read_signals(source.decode("utf-8", "replace"), entity.language, [entity])
    return found.entities.get(place_of(entity), NOTHING).code


async def judged_alone(
    graph: Graph, path: str, outline: Outline, heard: known = NOBODY
) -> dict[int, Statement]:
    """What facts say of the entities of one file, by key; callers in other files do not count.

    Args:
        graph: the graph with the person's work.
        path: the file.
        outline: the repository's, as far as it is known.
        heard: finds what models and agents say.
    """
    source, found = await graph.source(path), await graph.in_file(path)
    if source is None or not found:
        return {}
    columns = Columns()
    for each in found:
        if each.kind in JUSTIFIED or each.parent is None:
            columns.add(each)
    between = await graph.between(list(columns.index), _USES)
    columns.link([(each.via, each.entity.key) for each in between])
    ends = await graph.endpoints([each.key for each in found])
    text = source.decode("utf-8", "replace")

    def judge() -> dict[int, Statement]:
        signals = read_signals(text, found[0].language, found)
        columns.settle({path: signals}, ends)
        return {each.key: each for each in justify(columns, {}, outline, heard)}

    return await asyncio.to_thread(judge)
