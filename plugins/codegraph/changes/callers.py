"""Who calls what changed, up to two steps away: their purpose may be another now.

kap10's phase 5, "Cascade re-justification".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import among
from plugins.codegraph.model import EdgeKind
from plugins.codegraph.store.codes import edge_codes
from plugins.codegraph.store.tables import incoming

MAX_CALLERS = 50
"""The most callers, and the most of their callers, that are kept with one change."""
_MAX_EDGES = 10_000
_CALLS = edge_codes(EdgeKind.CALLS)

Callers = Mapping[int, tuple[Sequence[int], Sequence[int]]]
"""By key, its callers' keys and those of theirs."""


async def callers_of(connection: AsyncConnection, layer: int, keys: Collection[int]) -> Callers:
    """The callers of some entities of a layer, and the callers of those."""
    direct = await _sources(connection, layer, keys)
    near = {source for sources in direct.values() for source in sources}
    further = await _sources(connection, layer, near)
    found = {}
    for key, sources in direct.items():
        first = [each for each in sources if each != key][:MAX_CALLERS]
        second = {each for source in first for each in further.get(source, ())} - {key, *first}
        found[key] = first, sorted(second)[:MAX_CALLERS]
    return found


async def _sources(
    connection: AsyncConnection, layer: int, keys: Collection[int]
) -> Mapping[int, list[int]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    if keys:
        called = incoming.c.layer == layer, incoming.c.kind.in_(_CALLS)
        query = select(incoming.c.target, incoming.c.source).where(
            *called, among(incoming.c.target, keys)
        )
        ordered = query.order_by(incoming.c.target, incoming.c.source).limit(_MAX_EDGES)
        for target, source in await connection.execute(ordered):
            found[target].append(source)
    return found
