"""How many entities call each of some, and how many each of them calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.codegraph.model import EdgeKind
from plugins.codegraph.store.codes import edge_codes
from plugins.codegraph.store.dialects import among
from plugins.codegraph.store.seeing import Seeing
from plugins.codegraph.tables import edges, incoming

MOST_EDGES = 20_000
"""The most edges that are counted in each direction; beyond them a number is a lower bound."""


async def degrees(
    connection: AsyncConnection, seeing: Seeing, keys: Collection[int]
) -> dict[int, tuple[int, int]]:
    """Callers and callees of entities, as a view sees them."""
    if not keys:
        return {}
    hidden: frozenset[int] = frozenset()
    if seeing.overlay is not None:
        hidden = await seeing.hidden_keys(connection)
    counts: list[Counter[int]] = []
    for table, near in ((incoming, incoming.c.target), (edges, edges.c.source)):
        query = (
            select(near, table.c.source, table.c.layer)
            .where(
                *seeing.of(table),
                table.c.kind.in_(edge_codes(EdgeKind.CALLS)),
                among(connection, near, keys),
            )
            .limit(MOST_EDGES)
        )
        if not hidden:
            some = query.subquery()
            key = some.c[near.name]
            grouped = await connection.execute(select(key, func.count()).group_by(key))
            counts.append(Counter({row[0]: row[1] for row in grouped.all()}))
            continue
        rows = (await connection.execute(query)).all()
        # An edge is its source's: the overlay hides it where it hides the source.
        counts.append(
            Counter(
                key for key, source, layer in rows if layer != seeing.base or source not in hidden
            )
        )
    return {key: (counts[0][key], counts[1][key]) for key in keys}
