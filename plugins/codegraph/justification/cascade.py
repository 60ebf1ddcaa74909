"""What a change comes to for what calls the changed code, once that is justified anew.

The rules go over the whole graph after each index, so nothing needs to be asked again. Written down
is whose meaning changed or went, and which of its callers, up to two steps away, are said to be
something else since (kap10, phase 5, "Cascade re-justification").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update

from gateway.contract import Database
from gateway.toolkit.sql import among, batches
from plugins.codegraph.changes.told import Told, unpacked
from plugins.codegraph.justification.meaning import MEANING_DISTANCE, word_distance
from plugins.codegraph.justification.statements import Statement, decoded
from plugins.codegraph.model import shown_key
from plugins.codegraph.store.change_tables import changes, updates
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.tables import justifications

MAX_UPDATES = 20
"""The most indexes that are followed up at once; those before them changed the same code."""
_ROWS = 2_000


@dataclass(frozen=True, slots=True)
class Waiting:
    """An index that is not followed up.

    Attributes:
        id: the update's number.
        told: its changes, by number.
        before: what was said of the changed entities and of their callers, by key.
    """

    id: int
    told: Mapping[int, Told]
    before: Mapping[int, Statement]


class Cascade:
    """Follows up on what indexes changed.

    Args:
        database: the plugin's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(self, view: RepositoryView) -> list[Waiting]:
        """The indexes that led to a layer and are not followed up, with what was said before.

        Ask before anything new is written.
        """
        query = (
            select(updates.c.id, updates.c.former_layer)
            .where(updates.c.org == view.org, updates.c.repo == view.id)
            .where(updates.c.layer == view.layer, updates.c.generation <= view.generation)
            .where(updates.c.cascade.is_(None))
            .order_by(updates.c.id.desc())
            .limit(MAX_UPDATES)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [await self._waiting(view, *row) for row in rows]

    async def settle(
        self, view: RepositoryView, found: Iterable[Waiting], statements: Iterable[Statement]
    ) -> None:
        """Write down what came of it.

        Args:
            view: the repository.
            found: the indexes.
            statements: what is said of everything now.
        """
        waiting = list(found)
        if not waiting:
            return
        now = {each.key: each for each in statements}
        async with self._database.begin() as connection:
            for each in waiting:
                row = update(updates).where(updates.c.id == each.id, updates.c.repo == view.id)
                await connection.execute(row.values(cascade=_outcome(each, now)))

    async def _waiting(self, view: RepositoryView, number: int, layer: int | None) -> Waiting:
        rows = select(changes.c.number, changes.c.data).where(
            changes.c.update == number, changes.c.org == view.org, changes.c.repo == view.id
        )
        async with self._database.read() as connection:
            told = {row[0]: unpacked(row[1]) for row in await connection.execute(rows)}
        keys = {key for each in told.values() for key in _concerned(each)}
        before: dict[int, Statement] = {}
        for some in batches(sorted(keys), _ROWS):
            before |= await self._said(view, layer, some)
        return Waiting(number, told, before)

    async def _said(
        self, view: RepositoryView, layer: int | None, keys: Collection[int]
    ) -> dict[int, Statement]:
        mine = justifications.c.org == view.org, justifications.c.repo == view.id
        async with self._database.read() as connection:
            query = select(justifications.c.data).where(
                justifications.c.layer == layer, among(justifications.c.key, keys)
            )
            said = [decoded(data) for data in await connection.scalars(query.where(*mine))]
        return {each.key: each for each in said}


def meaning_changed(before: Statement, after: Statement) -> bool:
    """Whether an entity is for something else than before: its class, its feature or technology,
    how it is started, or more than the wording of its purpose."""
    place = (before.type, before.feature, before.technology, before.entry)
    if place != (after.type, after.feature, after.technology, after.entry):
        return True
    return word_distance(before.purpose, after.purpose) > MEANING_DISTANCE


def _concerned(told: Told) -> Sequence[int]:
    return [] if told.before is None else [told.before.key, *told.callers, *told.beyond]


def _outcome(waiting: Waiting, now: Mapping[int, Statement]) -> dict[str, Any]:
    """By the number of each change, what became of the meaning, and which callers were looked at
    for that and are said to be something else."""
    found: dict[str, Any] = {}
    for number, told in waiting.told.items():
        meaning = _meaning(told, waiting.before, now)
        if meaning in ("changed", "gone"):
            callers = [*told.callers, *told.beyond]
            other = [shown_key(key) for key in callers if _is_other(key, waiting.before, now)]
            found[str(number)] = {"meaning": meaning, "changed": other}
        elif meaning is not None:
            found[str(number)] = {"meaning": meaning}
    return found


def _meaning(
    told: Told, before: Mapping[int, Statement], now: Mapping[int, Statement]
) -> str | None:
    if told.before is None:
        return None
    if told.after is None:
        return "gone"
    then, later = before.get(told.before.key), now.get(told.after.key)
    if then is None or later is None:
        return None
    return "changed" if meaning_changed(then, later) else "same"


def _is_other(key: int, before: Mapping[int, Statement], now: Mapping[int, Statement]) -> bool:
    """Whether what is said of a caller is something else now; of one that is no more, nothing
    is."""
    then, later = before.get(key), now.get(key)
    return then is not None and later is not None and then.digest != later.digest
