"""Counts the content of a view."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.codegraph.model import EntityKind
from plugins.codegraph.store.codes import EDGE_KINDS, ENTITY_KINDS, STRATEGIES
from plugins.codegraph.store.graph import Counted, Sizes, Stats
from plugins.codegraph.store.tables import edges, entities, files, unresolved
from plugins.codegraph.store.visibility import Visibility


async def stats(connection: AsyncConnection, visibility: Visibility) -> Stats:
    """The counts of a view."""
    by_kind, by_strategy = await _edges(connection, visibility)
    sites = select(func.sum(unresolved.c.sites)).where(*visibility.shown(unresolved))
    return Stats(
        entities=await _entities(connection, visibility),
        all_edges=sum(by_kind.values()),
        edges=by_kind,
        strategies=by_strategy,
        unresolved=int(await connection.scalar(sites) or 0),
        **await _files(connection, visibility),
    )


async def sizes(connection: AsyncConnection, visibility: Visibility) -> Sizes:
    """How large a view without an overlay is."""
    count = select(func.count()).select_from(edges).where(*visibility.of(edges))
    return Sizes(
        entities=await _entities(connection, visibility),
        all_edges=int(await connection.scalar(count) or 0),
        **await _files(connection, visibility),
    )


async def _entities(connection: AsyncConnection, visibility: Visibility) -> dict[EntityKind, int]:
    kinds = select(entities.c.kind, func.count()).where(*visibility.shown(entities))
    found = await connection.execute(kinds.group_by(entities.c.kind))
    return {ENTITY_KINDS[kind]: count for kind, count in found}


async def _files(connection: AsyncConnection, visibility: Visibility) -> dict[str, Any]:
    bad = files.c.problem != ""
    query = (
        select(files.c.language, files.c.skipped, bad, func.count(), func.sum(files.c.lines))
        .where(*visibility.shown(files), files.c.gone.is_(False))
        .group_by(files.c.language, files.c.skipped, bad)
    )
    languages: dict[str, Counted] = {}
    skipped = problems = 0
    for language, left_out, problem, count, lines in await connection.execute(query):
        if left_out:
            skipped += count
            continue
        problems += count if problem else 0
        before = languages.get(language, Counted(0, 0))
        languages[language] = Counted(before.files + count, before.lines + int(lines or 0))
    return {"languages": languages, "skipped": skipped, "problems": problems}


async def _edges(connection: AsyncConnection, visibility: Visibility) -> tuple[Any, Any]:
    query = (
        select(edges.c.kind, edges.c.strategy, func.count())
        .where(*visibility.of(edges))
        .group_by(edges.c.kind, edges.c.strategy)
    )
    if visibility.overlay is not None:
        # An edge belongs to its source, so it is visible where that is: in its own layer.
        query = query.join(
            entities,
            (entities.c.layer == edges.c.layer) & (entities.c.key == edges.c.source),
        ).where(*visibility.shown(entities))
    kinds: dict[Any, int] = {}
    strategies: dict[Any, int] = {}
    for kind, strategy, count in await connection.execute(query):
        kinds[EDGE_KINDS[kind]] = kinds.get(EDGE_KINDS[kind], 0) + count
        strategies[STRATEGIES[strategy]] = strategies.get(STRATEGIES[strategy], 0) + count
    return kinds, strategies
