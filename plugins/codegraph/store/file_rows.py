"""Inserts and deletes the rows of whole files, within a transaction of ``layers``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from sqlalchemy import Table, delete, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import among
from plugins.codegraph.model import Strategy
from plugins.codegraph.store.codes import STRATEGY_CODES, end_id, first_id
from plugins.codegraph.store.dialects import insert_rows
from plugins.codegraph.store.fulltext import full_text
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import (
    EDGE_COLUMNS,
    ENDPOINT_COLUMNS,
    ENTITY_COLUMNS,
    FILE_COLUMNS,
    LINK_COLUMNS,
    MANIFEST_COLUMNS,
    UNRESOLVED_COLUMNS,
    EdgeRow,
    FileGraph,
    Manifest,
    edge_rows,
    endpoint_rows,
    entity_rows,
    file_row,
    link_row,
    named_rows,
)
from plugins.codegraph.store.tables import (
    edges,
    endpoints,
    entities,
    files,
    incoming,
    links,
    manifests,
    mentions,
    unresolved,
)

MAX_ROWS = 5_000
"""The most rows per transaction, unless one file has more: other writers of the portal wait for
it."""


def batches(found: Iterable[FileGraph]) -> Iterator[list[FileGraph]]:
    """Group files so that each group fits into one transaction."""
    batch: list[FileGraph] = []
    rows = 0
    for file in found:
        if batch and rows + file.size > MAX_ROWS:
            yield batch
            batch, rows = [], 0
        batch.append(file)
        rows += file.size
    if batch:
        yield batch


async def insert_files(
    connection: AsyncConnection, owner: Owner, layer: int, found: Sequence[FileGraph]
) -> None:
    """Insert all rows of some files except edges, and index their words."""
    org, repo = owner.org, owner.repo
    within = entities.c.id >= first_id(layer), entities.c.id < end_id(layer)
    last = await connection.scalar(select(func.max(entities.c.id)).where(*within))
    first = first_id(layer) if last is None else last + 1
    things = [each for file in found for each in file.entities]
    rows = entity_rows(layer, org, repo, first, things)
    await insert_rows(connection, entities, ENTITY_COLUMNS, rows)
    calls = [row for file in found for row in named_rows(layer, org, repo, file.unresolved)]
    await insert_rows(connection, unresolved, UNRESOLVED_COLUMNS, calls)
    named = [row for file in found for row in named_rows(layer, org, repo, file.mentions)]
    await insert_rows(connection, mentions, UNRESOLVED_COLUMNS, named)
    ends = [row for file in found for row in endpoint_rows(layer, org, repo, file.endpoints)]
    await insert_rows(connection, endpoints, ENDPOINT_COLUMNS, ends)
    reports = [file_row(layer, org, repo, file) for file in found]
    await insert_rows(connection, files, FILE_COLUMNS, reports)
    asked = [link_row(layer, org, repo, file) for file in found if file.interface]
    await insert_rows(connection, links, LINK_COLUMNS, asked)
    await full_text(connection).add(connection, layer, first)


async def insert_edges(
    connection: AsyncConnection, owner: Owner, layer: int, found: Sequence[EdgeRow]
) -> None:
    """Insert edges, in both directions."""
    for table in (edges, incoming):
        await insert_into(connection, table, owner, layer, found)


async def insert_into(
    connection: AsyncConnection, table: Table, owner: Owner, layer: int, found: Sequence[EdgeRow]
) -> None:
    """Insert edges in the table of one direction."""
    rows = edge_rows(layer, owner.org, owner.repo, found)
    await insert_rows(connection, table, EDGE_COLUMNS, rows)


async def delete_files(connection: AsyncConnection, layer: int, paths: Collection[str]) -> None:
    """Delete all rows of some files, with their words and the edges that start in them."""
    here = entities.c.layer == layer, among(entities.c.path, paths)
    found = (await connection.execute(select(entities.c.id, entities.c.key).where(*here))).all()
    if found:
        await full_text(connection).remove(connection, layer, [row[0] for row in found])
        sources = among(edges.c.source, [row[1] for row in found])
        theirs = edges.c.layer == layer, sources
        there = select(edges.c.target, edges.c.kind, edges.c.source).where(*theirs)
        key = tuple_(incoming.c.target, incoming.c.kind, incoming.c.source)
        back = incoming.c.layer == layer, key.in_(there)
        await connection.execute(delete(incoming).where(*back))
        await connection.execute(delete(edges).where(*theirs))
        await _delete_added(connection, layer, [row[1] for row in found])
        await connection.execute(delete(entities).where(*here))
    for table in (unresolved, mentions, endpoints, files, links):
        of_paths = table.c.layer == layer, among(table.c.path, paths)
        await connection.execute(delete(table).where(*of_paths))


async def _delete_added(connection: AsyncConnection, layer: int, targets: Collection[int]) -> None:
    """Delete SCIP edges into these entities: their sources were not indexed again by SCIP."""
    added = STRATEGY_CODES[Strategy.SCIP]
    into = (
        *(incoming.c.layer == layer, among(incoming.c.target, targets)),
        incoming.c.strategy == added,
    )
    there = select(incoming.c.source, incoming.c.kind, incoming.c.target).where(*into)
    key = tuple_(edges.c.source, edges.c.kind, edges.c.target)
    await connection.execute(delete(edges).where(edges.c.layer == layer, key.in_(there)))
    await connection.execute(delete(incoming).where(*into))


async def replace_manifests(
    connection: AsyncConnection, owner: Owner, layer: int, found: Sequence[Manifest]
) -> None:
    """Replace the manifests that a layer is linked with."""
    await connection.execute(delete(manifests).where(manifests.c.layer == layer))
    rows = [(layer, each.path, owner.org, owner.repo, each.digest, each.data) for each in found]
    await insert_rows(connection, manifests, MANIFEST_COLUMNS, rows)
