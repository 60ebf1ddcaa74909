"""Keeps the justifications of repositories in step with their graphs: a step after each index.

Texts are read once for each state of a file; rules run over the whole graph in memory; rows are
written only where what is said has changed. It may be killed anywhere and begun again: what was
read is kept, and a layer counts as justified by a last row that is written when all else is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from sqlalchemy import and_, or_, select, update

from gateway.contract import Database
from plugins.codegraph.justification.cascade import Cascade
from plugins.codegraph.justification.columns import Columns, load
from plugins.codegraph.justification.corrections import (
    STALE,
    Corrections,
    as_corrected,
    matching,
)
from plugins.codegraph.justification.follow_up import FollowUp
from plugins.codegraph.justification.justify import RULES, justify
from plugins.codegraph.justification.opinions.opinion_store import Opinions
from plugins.codegraph.justification.outline import Outline
from plugins.codegraph.justification.places import of_tests
from plugins.codegraph.justification.reading import SignalReader
from plugins.codegraph.justification.statement_writer import StatementWriter
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.justification.surveyor import features_of, outlined
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.layers import LayerGone
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.tables import justified, layers, repositories

Progress = Callable[[int, int, str], None]
"""``progress(done, total, message)``; must return at once."""


@dataclass(frozen=True, slots=True)
class Lagging:
    """A repository whose served layer is not justified, or not in its newest state.

    Attributes:
        org, repo, layer, generation: which, and which state.
        new: whether nothing of the layer is justified.
    """

    org: str
    repo: str
    layer: int
    generation: int
    new: bool


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of a repository.

    Attributes:
        columns: its graph.
        outline: its outline.
        statements: what is said of everything in it.
    """

    columns: Columns
    outline: Outline
    statements: list[Statement]


class Justifier:
    """Justifies repositories.

    Args:
        database: the plugin's database.
        store: the graphs.
    """

    def __init__(self, database: Database, store: GraphStore) -> None:
        self._database, self._store = database, store
        self._reader = SignalReader(database)
        self._corrections = Corrections(database)
        self._cascade = Cascade(database)
        self._opinions = Opinions(database)
        self._writer = StatementWriter(database, store)

    async def lagging(self) -> list[Lagging]:
        """The repositories that are to be justified."""
        served = and_(repositories.c.layer == layers.c.id, repositories.c.state == "active")
        joined = repositories.join(layers, served).outerjoin(
            justified, justified.c.layer == layers.c.id
        )
        behind = or_(
            justified.c.layer.is_(None),
            justified.c.generation != layers.c.generation,
            justified.c.rules != RULES,
        )
        query = (
            select(
                repositories.c.org,
                repositories.c.id,
                layers.c.id,
                layers.c.generation,
                justified.c.layer,
            )
            .select_from(joined)
            .where(behind)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [Lagging(*row[:4], new=row[4] is None) for row in rows]

    async def read(self, org: str, repo: str, progress: Progress) -> int:
        """Read the texts that have not been read; returns their number."""
        view = await self._store.view(org, repo)
        if view is None:
            return 0
        reports = await self._store.open(view).reports(False)
        return await self._reader.read(view, reports, progress)

    async def judge(self, org: str, repo: str, progress: Progress) -> dict[str, Any]:
        """Run the rules over a repository, and write what is new.

        Returns:
            The numbers of entities by class, and how many rows were written.
        """
        view = await self._store.view(org, repo)
        if view is None:
            return {"skipped": "It was removed, or has no index."}
        progress(0, 1, "justifying")
        outline, statements = await self._stated(view)
        waiting = await self._cascade.waiting(view)
        try:
            counts = await self._writer.whole(view, statements, outline)
            await self._cascade.settle(view, waiting, statements)
        except LayerGone as gone:
            return {"skipped": str(gone)}
        await self.follow_up(org, repo)  # what an index changed meanwhile was just overwritten
        progress(1, 1, "justifying")
        return counts

    async def _stated(self, view: RepositoryView) -> tuple[Outline, list[Statement]]:
        from plugins.codegraph.apart import whole_graph  # whose process comes back to here

        if await whole_graph.is_large(self._database, view):
            return await whole_graph.rules(self._database, view)
        said = await self.said(view)
        return said.outline, said.statements

    async def said(self, view: RepositoryView) -> Said:
        """The graph, and what is said of everything in it; nothing is written.

        Args:
            view: the repository, whose texts have been read (:meth:`read`).
        """
        reports = await self._store.open(view).reports(False)
        files, scripts = await self._reader.load(view, reports)
        ends = await self._store.open(view).endpoints()
        columns = await load(self._database, view, files, ends)
        heard = await self._opinions.finder(view)
        find = matching(await self._corrections.of(view))

        def said() -> Said:
            code = {each.path for each in columns.entities if not of_tests(each.path)}
            outline = outlined(columns, sorted(code))
            stated = list(justify(columns, scripts, outline, heard))
            outline = replace(outline, features=features_of(stated))
            return Said(columns, outline, list(as_corrected(columns, stated, find)))

        return await asyncio.to_thread(said)

    async def follow_up(self, org: str, repo: str) -> int | None:
        """Judge at once what an index changed, as :meth:`FollowUp.run` says."""
        return await FollowUp(self._database, self._store).run(org, repo)

    async def stale(self, org: str, repo: str) -> None:
        """Have what is said of a repository be put together anew, since more is said."""
        mine = justified.c.org == org, justified.c.repo == repo
        async with self._database.begin() as connection:
            await connection.execute(update(justified).where(*mine).values(generation=STALE))

    async def run(
        self, org: str, repo: str, progress: Progress = lambda done, total, message: None
    ) -> dict[str, Any]:
        """Read and judge in one go, as a command does."""
        await self.read(org, repo, progress)
        return await self.judge(org, repo, progress)
