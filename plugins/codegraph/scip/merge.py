"""Adds the edges of installed SCIP indexers to a graph that is already served."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import select, tuple_, update

from plugins.codegraph.model import EdgeKind, Entity, Strategy
from plugins.codegraph.scip.process import Order, Result, ordered
from plugins.codegraph.scip.runner import TIMEOUT_S, Indexer, command, run, wanted
from plugins.codegraph.store.additions import Additions
from plugins.codegraph.store.codes import STRATEGY_CODES, edge_codes
from plugins.codegraph.store.contents import texts_of
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.layers import LayerGone
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.tables import edges, manifests, repositories

Progress = Callable[[int, int, str], None]
_PAGE_SIZE = 5_000
_TEXTS = 200
_COMPARED = (EdgeKind.CALLS, EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS)


class ScipMerge:
    """Runs the indexers over indexed repositories.

    Args:
        store: the graphs.
        limit: the most seconds that one indexer may run.
    """

    def __init__(self, store: GraphStore, limit: float = TIMEOUT_S) -> None:
        self._store, self._limit = store, limit

    async def check(
        self, org: str, repo: str, progress: Progress | None = None
    ) -> dict[str, Any] | None:
        """Run the indexers of a repository's languages, and add their edges.

        Failures and missing indexers are noted in the repository's record; the graph then stays
        unchanged.

        Args:
            org: its organisation.
            repo: its id.
            progress: receives the name of the running indexer.

        Returns:
            The record, as JSON values; None if no index is served.
        """
        view = await self._store.view(org, repo)
        if view is None:
            return None
        reports = await self._store.open(view).reports(False)
        files = {each.path: each.digest for each in reports if each.digest and not each.skipped}
        chosen = wanted(dict.fromkeys(files, b""))
        found: list[tuple[Indexer, Result]] = []
        for at, indexer in enumerate(chosen):
            if progress is not None:
                progress(at, len(chosen), f"running {indexer.name}")
            found.append((indexer, await self._ran(indexer, view, files)))
        dropped = await self._written(view, [result for _, result in found])
        record = {
            "layer": view.layer,
            "generation": view.generation,
            "indexers": [_report(indexer, result, dropped) for indexer, result in found],
        }
        await self._keep(view, record)
        return record

    async def _ran(
        self, indexer: Indexer, view: RepositoryView, files: Mapping[str, str]
    ) -> Result:
        if not command(indexer):
            return Result((await run(indexer, {})).problem)
        paths = {path: files[path] for path in files if path.endswith(indexer.suffixes)}
        order = Order(
            indexer.name,
            [each for each in await self._entities(view) if each.path in paths],
            await self._edges(view),
            await self._texts(view, paths),
            await self._manifests(view),
            self._limit,
        )
        return await ordered(order)

    async def _written(self, view: RepositoryView, found: list[Result]) -> str:
        """Add the edges; returns why they were dropped, or ""."""
        additions = Additions(self._store.database, _owner(view), view.layer, view.generation)
        try:
            await additions.clear()
            for result in found:
                await additions.write(result.edges)
        except LayerGone as reason:
            with contextlib.suppress(LayerGone):  # the layer is not read any more then
                await additions.clear(changed=True)
            return str(reason)
        return ""

    async def _entities(self, view: RepositoryView) -> list[Entity]:
        graph, after = self._store.open(view), 0
        found: list[Entity] = []
        while page := await graph.page(after, _PAGE_SIZE):
            found += [each for _, each in page]
            after = page[-1][0]
        return found

    async def _edges(self, view: RepositoryView) -> list[tuple[int, int, int]]:
        key = edges.c.source, edges.c.kind, edges.c.target
        query = (
            select(*key)
            .where(
                *(edges.c.layer == view.layer, edges.c.org == view.org, edges.c.repo == view.id),
                edges.c.kind.in_(edge_codes(_COMPARED)),
                edges.c.strategy != STRATEGY_CODES[Strategy.SCIP],
            )
            .order_by(*key)
            .limit(_PAGE_SIZE)
        )
        found: list[tuple[int, int, int]] = []
        async with self._store.database.read() as connection:
            more = query
            while rows := (await connection.execute(more)).all():
                found += [(row[0], row[1], row[2]) for row in rows]
                more = query.where(tuple_(*key) > found[-1])
        return found

    async def _texts(self, view: RepositoryView, paths: Mapping[str, str]) -> dict[str, bytes]:
        digests = sorted(set(paths.values()))
        texts: dict[str, bytes] = {}
        async with self._store.database.read() as connection:
            for start in range(0, len(digests), _TEXTS):
                some = digests[start : start + _TEXTS]
                texts |= await texts_of(connection, _owner(view), some)
        return {path: texts[digest] for path, digest in paths.items() if digest in texts}

    async def _manifests(self, view: RepositoryView) -> dict[str, bytes]:
        mine = manifests.c.org == view.org, manifests.c.repo == view.id
        query = select(manifests.c.path, manifests.c.data)
        async with self._store.database.read() as connection:
            rows = await connection.execute(query.where(manifests.c.layer == view.layer, *mine))
            return {row.path: row.data for row in rows}

    async def _keep(self, view: RepositoryView, record: Mapping[str, Any]) -> None:
        mine = repositories.c.id == view.id, repositories.c.org == view.org
        async with self._store.database.begin() as connection:
            await connection.execute(update(repositories).where(*mine).values(scip=record))


def _owner(view: RepositoryView) -> Owner:
    return Owner(view.org, view.id)


def _report(indexer: Indexer, result: Result, dropped: str) -> dict[str, Any]:
    problem = result.problem
    if dropped and not problem:
        problem = (
            f"What {indexer.name} found was dropped, since {dropped}; the next full index runs it "
            "again"
        )
    return {
        "indexer": indexer.name,
        "problem": problem,
        "edges": 0 if problem else len(result.edges),
        "both": result.both,
        "differ": result.differ,
        "missed": result.missed,
    }
