"""Justifies at once what an index changed; the rules over the whole graph follow when they may.

What features add up to, and the flows and consumers of what the changed code uses, are said by
those. Only a layer that was justified as a whole before is followed up: what the rules need to know
of all the rest is kept from then (``outline.py``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select

from gateway.contract import Database
from plugins.codegraph.justification.cascade import Cascade
from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.corrections import (
    STALE,
    Corrections,
    as_corrected,
    matching,
)
from plugins.codegraph.justification.justify import RULES, Part, justify
from plugins.codegraph.justification.neighbourhood import Neighbourhood, around, changed_since
from plugins.codegraph.justification.opinions.opinion_store import Opinions
from plugins.codegraph.justification.outline import Outline, unpacked
from plugins.codegraph.justification.reading import SignalReader
from plugins.codegraph.justification.scripts import is_manifest
from plugins.codegraph.justification.statement_store import StatementStore
from plugins.codegraph.justification.statement_writer import StatementWriter
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.layers import LayerGone
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.tables import justified


@dataclass(frozen=True, slots=True)
class _Begun:
    """What was said before.

    Attributes:
        generation: the generation that was justified as a whole.
        followed: the one up to which what changed was judged.
        outline: the repository's, of when the whole was justified.
    """

    generation: int
    followed: int
    outline: Outline


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Justifies what changed.

    Attributes:
        database: the plugin's database.
        store: the graphs.
    """

    database: Database
    store: GraphStore

    async def run(self, org: str, repo: str) -> int | None:
        """Judge what changed since a repository was justified as a whole, and what calls that.

        Returns:
            How many statements are other than before; None where it is left to the rules over the
            whole graph.
        """
        view = await self.store.view(org, repo)
        begun = None if view is None else await self._begun(view)
        if view is None or begun is None:
            return None
        changed = await changed_since(self.database, view, begun.followed)
        near = None if changed is None else await around(self.database, view, changed)
        if near is None:
            return None
        waiting = await Cascade(self.database).waiting(view)
        said = await self._judged(view, begun.outline, near)
        try:
            writer = StatementWriter(self.database, self.store)
            written = await writer.part(view, said, near.keys, begun.generation)
            await Cascade(self.database).settle(view, waiting, said)
        except LayerGone:
            return None
        return written

    async def _begun(self, view: RepositoryView) -> _Begun | None:
        """What was said before; None where the whole was not, by these rules."""
        query = select(justified.c.generation, justified.c.followed, justified.c.outline).where(
            justified.c.layer == view.layer, justified.c.rules == RULES
        )
        async with self.database.read() as connection:
            row = (await connection.execute(query)).first()
        if row is None or row.generation in (STALE, view.generation) or row.outline is None:
            return None
        followed = row.generation if row.followed is None else row.followed
        return _Begun(row.generation, followed, unpacked(row.outline))

    async def _judged(
        self, view: RepositoryView, outline: Outline, near: Neighbourhood
    ) -> list[Statement]:
        columns = near.columns
        paths = {each.path for each in columns.entities if each.key in near.judged}
        graph, reader = self.store.open(view), SignalReader(self.database)
        reports = await graph.reports(False)
        concerned = [each for each in reports if each.path in paths or is_manifest(each.path)]
        await reader.read(view, concerned, lambda done, total, message: None)
        files, scripts = await reader.load(view, concerned)
        ends = await graph.endpoints(list(near.judged))
        columns.settle({path: files[path] for path in paths & files.keys()}, ends)
        before = await StatementStore(self.database).of(view, list(columns.index))
        heard = await Opinions(self.database).finder(view)
        find = matching(await Corrections(self.database).of(view))
        part = _part(columns, near.judged, before)

        def judge() -> list[Statement]:
            found = justify(columns, scripts, outline, heard, part)
            return list(as_corrected(columns, found, find))

        return await asyncio.to_thread(judge)


def _part(columns: Columns, judged: frozenset[int], before: Mapping[int, Statement]) -> Part:
    neighbours, former = {}, {}
    for at, entity in enumerate(columns.entities):
        said = before.get(entity.key)
        if entity.key not in judged:
            neighbours[at] = said or Statement(entity.key, entity.path, 0)
        elif said is not None:
            former[at] = said
    return Part(neighbours, former)
