"""Counts the callers and callees of entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import cache
from typing import Any

from sqlalchemy import CompoundSelect, func, literal_column, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import among, among_parameter
from plugins.codegraph.model import EdgeKind
from plugins.codegraph.store.codes import edge_codes
from plugins.codegraph.store.tables import edges, incoming
from plugins.codegraph.store.visibility import Visibility, in_base

MAX_EDGES = 20_000
"""The most edges counted in each direction; beyond them a count is a lower bound."""


_CALLS = edge_codes(EdgeKind.CALLS)
_USES = edge_codes((EdgeKind.CALLS, EdgeKind.REFERENCES))
_SIDES = ((incoming, incoming.c.target), (edges, edges.c.source))


async def degrees(
    connection: AsyncConnection, visibility: Visibility, keys: Collection[int]
) -> dict[int, tuple[int, int]]:
    """The numbers of callers and callees of entities in a view, by key."""
    if not keys:
        return {}
    counts: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    if visibility.overlay is None:
        values = {**visibility.values, "keys": keys}
        rows = await connection.execute(_counting(), values)
        for side, key, count in rows:
            counts[side][key] = count
        return {key: (counts[0][key], counts[1][key]) for key in keys}
    hidden = await visibility.hidden_keys(connection)
    for count, (table, near) in zip(counts, _SIDES, strict=True):
        query = (
            select(near, table.c.source, table.c.layer)
            .where(*visibility.of(table), table.c.kind.in_(_CALLS), among(near, keys))
            .limit(MAX_EDGES)
        )
        # An edge belongs to its source: the overlay hides both together.
        for key, source, layer in await connection.execute(query):
            count[key] += layer != visibility.base or source not in hidden
    return {key: (counts[0][key], counts[1][key]) for key in keys}


async def degrees_of_most(
    connection: AsyncConnection, visibility: Visibility, limit: int
) -> dict[int, int]:
    """The entities that most others call or refer to, with the number of edges, by key.

    Edges of files that an overlay hides count too: an outline need not be exact.
    """
    count = func.count().label("count")
    query = (
        select(incoming.c.target, count)
        .where(*visibility.of(incoming), incoming.c.kind.in_(_USES))
        .group_by(incoming.c.target)
        .order_by(count.desc(), incoming.c.target)
        .limit(limit)
    )
    return dict(map(tuple, await connection.execute(query)))


@cache
def _counting() -> CompoundSelect[Any]:
    """A query that counts both directions in a base layer, each row with its direction's number."""
    halves = []
    for side, (table, near) in enumerate(_SIDES):
        chosen = table.c.kind.in_(_CALLS), among_parameter(near, "keys")
        some = select(near.label("near")).where(*in_base(table), *chosen).limit(MAX_EDGES)
        each = some.subquery()
        half = select(literal_column(str(side)), each.c.near, func.count())
        halves.append(half.group_by(each.c.near))
    return union_all(*halves)
