"""A whole base layer in memory, read column by column: for analyses of all of a repository."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from plugins.codegraph.model import Endpoint, Entity, FileReport, Mention, Unresolved
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.rows import endpoint_of, entity_of, report_of
from plugins.codegraph.store.tables import (
    ENDS,
    REPORTED,
    SELECTED,
    edges,
    endpoints,
    entities,
    files,
    mentions,
    texts,
    unresolved,
)
from plugins.codegraph.store.visibility import Visibility

_BATCH = 20_000
"""Rows that are fetched at once."""
_UNUSED = ("signature", "doc")
"""Columns of an entity that no analysis reads, and that are most of its bytes."""


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """The edges of a layer, each column an array.

    Attributes:
        source, target: the entities' keys.
        kind: the number of the kind (``store/codes.py``).
        line: the first line, in the file of the source.
        strategy: the number of the strategy.
        sites: at how many places each stands.
    """

    source: array[int]
    target: array[int]
    kind: array[int]
    line: array[int]
    strategy: array[int]
    sites: array[int]

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True)
class WholeLayer:
    """Everything that a base layer has, without signatures and documentation.

    Attributes:
        entities: by path and line, each before what it contains.
        edges: the edges.
        unresolved: calls whose target is unknown.
        mentions: names that no edge accounts for.
        endpoints: routes and requests.
        reports: the files, by path.
        texts: the files' texts, deflated, by digest.
    """

    entities: Sequence[Entity]
    edges: EdgeColumns
    unresolved: Sequence[Unresolved]
    mentions: Sequence[Mention]
    endpoints: Sequence[Endpoint]
    reports: Sequence[FileReport]
    texts: Mapping[str, bytes]


async def whole_layer(database: Database, view: RepositoryView) -> WholeLayer:
    """Read the base layer of a view; uncommitted work is left out."""
    seen = Visibility(view)
    async with database.engine.connect() as connection:  # one state of it; a cursor needs that too
        reader = _Reader(connection, seen)
        found = [Entity(*_entity(row)) for row in await reader.rows(entities, _entity_columns())]
        found.sort(key=lambda each: (each.path, each.line, -each.end_line, each.qualified))
        named = ("path", "name", "line", "sites")
        return WholeLayer(
            entities=found,
            edges=await reader.edges(),
            unresolved=[Unresolved(*row) for row in await reader.named(unresolved, named)],
            mentions=[Mention(*row) for row in await reader.named(mentions, named)],
            endpoints=[endpoint_of(row) for row in await reader.rows(endpoints, ENDS)],
            reports=[
                report_of(row) for row in sorted(map(tuple, await reader.rows(files, REPORTED)))
            ],
            texts=await reader.texts(view),
        )


class _Reader:
    def __init__(self, connection: AsyncConnection, seen: Visibility) -> None:
        self._connection, self._seen = connection, seen

    async def rows(self, table: Table, columns: Sequence[Any]) -> list[Any]:
        query = select(*columns).where(table.c.layer == self._seen.base, *self._seen.of(table)[1:])
        return list((await self._connection.execute(query)).all())

    async def named(self, table: Table, names: Sequence[str]) -> list[Any]:
        rows = await self.rows(table, [table.c[name] for name in names])
        return sorted(map(tuple, rows))

    async def edges(self) -> EdgeColumns:
        names = ("source", "target", "kind", "line", "strategy", "sites")
        columns = [array("q") for _ in names]
        query = select(*(edges.c[name] for name in names)).where(
            edges.c.layer == self._seen.base, *self._seen.of(edges)[1:]
        )
        result = await self._connection.stream(query)
        async for rows in result.partitions(_BATCH):
            for column, values in zip(columns, zip(*rows, strict=True), strict=True):
                column.extend(values)
        return EdgeColumns(*columns)

    async def texts(self, view: RepositoryView) -> dict[str, bytes]:
        wanted = select(files.c.digest).where(
            files.c.layer == self._seen.base, files.c.skipped.is_(False)
        )
        query = select(texts.c.digest, texts.c.data).where(
            texts.c.org == view.org, texts.c.repo == view.id, texts.c.digest.in_(wanted)
        )
        return {row[0]: bytes(row[1]) for row in await self._connection.execute(query)}


def _entity_columns() -> list[Any]:
    return [literal("").label(each.name) if each.name in _UNUSED else each for each in SELECTED]


def _entity(row: Sequence[Any]) -> tuple[Any, ...]:
    entity = entity_of(row)
    return tuple(getattr(entity, name) for name in Entity.__struct_fields__)
