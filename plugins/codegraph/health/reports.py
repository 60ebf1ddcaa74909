"""Makes health reports after full indexes, and keeps them with their history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from gateway.contract import Database
from plugins.codegraph.health.report import HealthReport, PastReport
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.store import GraphStore

HISTORY = 50
"""The most reports that are kept of a repository; the oldest are deleted."""


class HealthReports:
    """The reports of all repositories.

    Args:
        database: the plugin's database.
        store: the graphs.
        now: the time, in UTC.
    """

    def __init__(self, database: Database, store: GraphStore, now: Callable[[], datetime]) -> None:
        self._database, self._store, self._now = database, store, now

    async def make(self, org: str, repo: str, root: Path | None = None) -> int | None:
        """Make the report of the layer that is served, unless there is one; nobody waits for it.

        Args:
            org: the repository's organisation.
            repo: its id.
            root: its files, for Git's history; None for none.

        Returns:
            The overall score; None where nothing is served.
        """
        view = await self._store.view(org, repo)
        if view is None:
            return None
        row = await self._row(view, "score")
        return (await self._made(view, root)).overall_score if row is None else int(row.score)

    async def of(self, view: RepositoryView) -> tuple[HealthReport, datetime] | None:
        """The newest report of a repository and when it was made; None before the first.

        It is of the last full index: small changes since then are not in it.
        """
        row = await self._row(view, "report", "made", layer=False)
        return None if row is None else (HealthReport.model_validate(row.report), row.made)

    async def history(self, view: RepositoryView, most: int) -> list[PastReport]:
        """The newest reports of a repository in brief, newest first."""
        from sqlalchemy import select

        from plugins.codegraph.health.tables import reports as table

        columns = (table.c[name] for name in ("made", "commit", "score", "counts"))
        query = select(*columns).where(*_mine(view)).order_by(table.c.layer.desc()).limit(most)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [
            PastReport(
                made_at=row.made, commit=row.commit, overall_score=row.score, counts=row.counts
            )
            for row in rows
        ]

    async def is_made(self, repo: str, layer: int) -> bool:
        """Whether there is a report of a layer."""
        from sqlalchemy import select

        from plugins.codegraph.health.tables import reports as table

        query = select(table.c.score).where(table.c.repo == repo, table.c.layer == layer)
        async with self._database.read() as connection:
            return await connection.scalar(query) is not None

    async def purge(self, org: str, repo: str) -> int:
        """Delete all reports of a repository; returns their number."""
        from sqlalchemy import delete

        from plugins.codegraph.health.tables import reports as table

        query = delete(table).where(table.c.org == org, table.c.repo == repo)
        async with self._database.begin() as connection:
            return (await connection.execute(query)).rowcount

    async def leftovers(self, org: str, repo: str) -> int:
        """The number of reports of a repository."""
        from sqlalchemy import func, select

        from plugins.codegraph.health.tables import reports as table

        query = select(func.count()).where(table.c.org == org, table.c.repo == repo)
        async with self._database.read() as connection:
            return int(await connection.scalar(query) or 0)

    async def _made(self, view: RepositoryView, root: Path | None) -> HealthReport:
        # Imported late, because the analyses take numpy with them.
        from plugins.codegraph.apart import whole_graph
        from plugins.codegraph.health.analysis import counts_of, health_report

        if await whole_graph.is_large(self._database, view):
            report = await whole_graph.health(self._database, view, root)
        else:
            report = await health_report(self._database, view, root)
        counts = {section.value: count for section, count in counts_of(report.sections).items()}
        values = {
            "repo": view.id,
            "layer": view.layer,
            "org": view.org,
            "commit": view.commit or None,
            "made": self._now(),
            "score": report.overall_score,
            "counts": counts,
            "report": report.wire(),
        }
        await self._keep(view, values)
        return report

    async def _keep(self, view: RepositoryView, values: dict[str, Any]) -> None:
        """Store a report in place of an earlier one of the same layer, unless the repository was
        removed meanwhile, and delete those that are too old."""
        from sqlalchemy import delete, insert, select

        from plugins.codegraph.health.tables import reports as table
        from plugins.codegraph.store.tables import repositories

        mine = _mine(view)
        there = select(repositories.c.id).where(
            repositories.c.id == view.id, repositories.c.state == "active"
        )
        oldest = select(table.c.layer).where(*mine).order_by(table.c.layer.desc()).limit(HISTORY)
        async with self._database.begin() as connection:
            if await connection.scalar(there.with_for_update()) is None:
                return
            await connection.execute(delete(table).where(*mine, table.c.layer == view.layer))
            await connection.execute(insert(table).values(values))
            kept: Sequence[int] = (await connection.scalars(oldest)).all()
            await connection.execute(delete(table).where(*mine, table.c.layer < min(kept)))

    async def _row(self, view: RepositoryView, *names: str, layer: bool = True) -> Any:
        """Some columns of the newest report; with ``layer``, only of the layer that is served."""
        from sqlalchemy import select

        from plugins.codegraph.health.tables import reports as table

        only = (table.c.layer == view.layer,) if layer else ()
        query = select(*(table.c[name] for name in names)).where(*_mine(view), *only)
        async with self._database.read() as connection:
            return (await connection.execute(query.order_by(table.c.layer.desc()).limit(1))).first()


def _mine(view: RepositoryView) -> tuple[Any, ...]:
    from plugins.codegraph.health.tables import reports as table

    return table.c.repo == view.id, table.c.org == view.org
