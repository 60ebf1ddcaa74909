"""Reads what is said of entities, for the tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select

from gateway.contract import Database
from gateway.toolkit.sql import among
from plugins.codegraph.justification.corrections import STALE
from plugins.codegraph.justification.justify import RULES
from plugins.codegraph.justification.outline import Outline, unpacked
from plugins.codegraph.justification.statements import CLASS_CODES, Statement, decoded
from plugins.codegraph.justification.taxonomy import EntityClass
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.tables import features, justifications, justified


@dataclass(frozen=True, slots=True)
class JustifiedState:
    """How far a layer is justified.

    Attributes:
        at: when it was, the last time.
        behind: whether the graph has changed since.
        counts: the numbers of entities by class.
    """

    at: datetime
    behind: bool
    counts: Mapping[str, Any]


class StatementStore:
    """Reads justifications and features.

    Args:
        database: the plugin's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def state(self, view: RepositoryView) -> JustifiedState | None:
        """How far a repository is justified; None where it is not at all."""
        query = select(justified).where(justified.c.layer == view.layer)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
        if row is None:
            return None
        behind = row.generation not in (view.generation, STALE)
        return JustifiedState(row.at, behind, row.counts)

    async def of(self, view: RepositoryView, keys: Collection[int]) -> dict[int, Statement]:
        """What is said of some entities, by key."""
        async with self._database.read() as connection:
            these = among(justifications.c.key, keys)
            query = select(justifications.c.data).where(*_mine(view), these)
            found = [decoded(data) for data in await connection.scalars(query)]
        return {each.key: each for each in found}

    async def matching(
        self,
        view: RepositoryView,
        *,
        kind: EntityClass | None = None,
        area: str | None = None,
        limit: int,
    ) -> tuple[list[Statement], int]:
        """The statements of a class, a feature or a technology, the surest first; and how many
        there are."""
        only: list[ColumnElement[bool]] = list(_mine(view))
        if kind is not None:
            only.append(justifications.c.type == CLASS_CODES[kind])
        if area is not None:
            feature, technology = justifications.c.feature, justifications.c.technology
            named = func.lower(feature) == area.lower(), func.lower(technology) == area.lower()
            only.append(or_(*named))
        order = justifications.c.confidence.desc(), justifications.c.path, justifications.c.key
        async with self._database.read() as connection:
            query = select(justifications.c.data).where(*only).order_by(*order).limit(limit)
            found = [decoded(data) for data in await connection.scalars(query)]
            count = select(func.count()).select_from(justifications).where(*only)
            total = int(await connection.scalar(count) or 0)
        return found, total

    async def outline(self, view: RepositoryView) -> Outline | None:
        """The outline of a repository; None where it is not justified by these rules."""
        query = select(justified.c.outline).where(
            justified.c.layer == view.layer, justified.c.rules == RULES
        )
        async with self._database.read() as connection:
            found = await connection.scalar(query)
        return None if found is None else unpacked(found)

    async def features(self, view: RepositoryView) -> dict[str, Mapping[str, Any]]:
        """The features, technologies and helpers, by id (``features.py``)."""
        query = select(features.c.id, features.c.data).where(
            features.c.layer == view.layer, features.c.repo == view.id, features.c.org == view.org
        )
        async with self._database.read() as connection:
            return {row[0]: row[1] for row in await connection.execute(query)}


def _mine(view: RepositoryView) -> tuple[ColumnElement[bool], ...]:
    return (
        justifications.c.layer == view.layer,
        justifications.c.org == view.org,
        justifications.c.repo == view.id,
    )
