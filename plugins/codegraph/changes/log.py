"""Writes down what each index changed: compared before it is written, kept in the same
transaction."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from plugins.codegraph.changes.callers import Callers, callers_of
from plugins.codegraph.changes.compare import ChangeKind, EntityChange, compare
from plugins.codegraph.changes.states import (
    State,
    counted,
    digests_of,
    other_files,
    state_after,
    state_of,
)
from plugins.codegraph.changes.told import KIND_CODES, Told, packed, sides
from plugins.codegraph.store.change_tables import changes, updates
from plugins.codegraph.store.dialects import insert_rows
from plugins.codegraph.store.owner import Owner

if TYPE_CHECKING:
    from plugins.codegraph.store.layers import Change, Stamp

KEPT_FOR = timedelta(days=30)
"""How long what an index changed is kept."""
MAX_UPDATES = 200
"""The most indexes of a repository whose changes are kept."""
MAX_CHANGES = 500
"""The most changes of one index that are kept; more are only counted."""
MAX_TEXTS = 100
"""The most changes of one index that are kept with lines of the source."""
_COLUMNS = ("update", "number", "org", "repo", "kind", "path", "former_path", "data")


class UpdateKind(IntEnum):
    """What an index did; the numbers never change."""

    FIRST = 0
    """The first index: nothing was there to compare with."""
    ENTITIES = 1
    """It is told entity by entity."""
    FILES = 2
    """So much changed that only files are told."""


@dataclass(frozen=True, slots=True)
class Update:
    """What an index changes.

    Attributes:
        kind: how it is told.
        former_layer: what it was compared with, or None.
        counts: of changes by kind, and of changed files; of the first index, of all it has.
        told: the changes that are kept: the kind of each, and all about it.
    """

    kind: UpdateKind
    former_layer: int | None
    counts: dict[str, int]
    told: Sequence[tuple[ChangeKind, Told]] = field(default=())


class ChangeLog:
    """The changes of one repository.

    Args:
        database: the plugin's database.
        owner: the repository.
    """

    def __init__(self, database: Database, owner: Owner) -> None:
        self._database, self._owner = database, owner

    async def of_rewrite(self, layer: int, change: Change) -> Update | None:
        """What a change of some files of a layer comes to; None if no file has other bytes."""
        paths = {*change.gone, *(each.report.path for each in change.files)}
        async with self._database.read() as connection:
            there = await digests_of(connection, layer, paths)
            other = [x for x in change.files if there.get(x.report.path) != x.report.digest]
            former = {each.report.path for each in other} | set(change.gone)
            if not former:
                return None
            before = await state_of(connection, self._owner, layer, former)
            after = await state_after(connection, self._owner, other, change.contents)
            return await self._compared(connection, layer, before, after)

    async def of_replacement(self, former: int | None, layer: int) -> Update | None:
        """What a new layer comes to against the one that is served; None if no file has other
        bytes."""
        async with self._database.read() as connection:
            if former is None:
                return Update(UpdateKind.FIRST, None, await counted(connection, layer))
            gone = await other_files(connection, former, layer)
            came = await other_files(connection, layer, former)
            if not gone and not came:
                return None
            before = await state_of(connection, self._owner, former, gone)
            after = await state_of(connection, self._owner, layer, came)
            return await self._compared(connection, former, before, after)

    async def write(
        self,
        connection: AsyncConnection,
        update: Update,
        layer: tuple[int, int],
        stamp: Stamp,
        former_commit: str,
    ) -> None:
        """Write down what an index changed, and forget what is too old.

        Args:
            connection: the transaction in which it is served.
            update: what it changed.
            layer: the layer's number and generation.
            stamp: what it reflects.
            former_commit: what it reflected before.
        """
        mine = {"org": self._owner.org, "repo": self._owner.repo}
        now = datetime.now(UTC)
        row = insert(updates).values(
            **mine,
            at=now,
            kind=update.kind,
            layer=layer[0],
            generation=layer[1],
            former_layer=update.former_layer,
            commit=stamp.commit,
            former_commit=former_commit,
            branch=stamp.branch,
            author=stamp.author,
            subject=stamp.subject,
            counts=update.counts,
        )
        number = int((await connection.execute(row.returning(updates.c.id))).scalar_one())
        rows = [_row(number, at, self._owner, *each) for at, each in enumerate(update.told)]
        await insert_rows(connection, changes, _COLUMNS, rows)
        await self._trim(connection, now)

    async def _trim(self, connection: AsyncConnection, now: datetime) -> None:
        mine = updates.c.org == self._owner.org, updates.c.repo == self._owner.repo
        newest = select(updates.c.id).where(*mine).order_by(updates.c.id.desc())
        surplus = await connection.scalar(newest.offset(MAX_UPDATES).limit(1))
        old = await connection.scalar(newest.where(updates.c.at < now - KEPT_FOR).limit(1))
        last = max(surplus or 0, old or 0)
        if last:
            theirs = changes.c.org == self._owner.org, changes.c.repo == self._owner.repo
            of_those = select(updates.c.id).where(*mine, updates.c.id <= last)
            await connection.execute(delete(changes).where(*theirs, changes.c.update.in_(of_those)))
            await connection.execute(delete(updates).where(*mine, updates.c.id <= last))

    async def _compared(
        self, connection: AsyncConnection, layer: int, before: State, after: State
    ) -> Update | None:
        whole = before.is_large or after.is_large
        found = await asyncio.to_thread(_compare, before, after, whole=whole)
        counts = dict(Counter(each.kind.value for each in found))
        counts["files"] = len(before.digests.keys() | after.digests.keys())
        kept = found[:MAX_CHANGES]
        keys = {each.before.entity.key for each in kept if each.before is not None}
        callers: Callers = {} if whole else await callers_of(connection, layer, keys)
        told = await asyncio.to_thread(_told, kept, before, after, callers)
        kind = UpdateKind.FILES if whole else UpdateKind.ENTITIES
        return Update(kind, layer, counts, told)


def _compare(before: State, after: State, *, whole: bool) -> list[EntityChange]:
    return compare(before.versions(whole=whole), after.versions(whole=whole))


def _told(
    found: Sequence[EntityChange], before: State, after: State, callers: Callers
) -> list[tuple[ChangeKind, Told]]:
    told = []
    for at, each in enumerate(found):
        texts = (before.texts, after.texts) if at < MAX_TEXTS else ({}, {})
        old, new = sides(each, *texts)
        direct, beyond = callers.get(0 if old is None else old.key, ((), ()))
        path = each.shown.entity.path
        missing = after.problems.get(path, "") if each.kind is ChangeKind.DELETED else ""
        note = f"The file is still there, and is not, or not wholly, read: {missing}"
        told.append(
            (each.kind, Told(old, new, each.edited, note if missing else "", direct, beyond))
        )
    return told


def _row(update: int, number: int, owner: Owner, kind: ChangeKind, told: Told) -> tuple[Any, ...]:
    now, then = told.after or told.before, told.before or told.after
    paths = (now.path if now else "", then.path if then else "")
    return (update, number, owner.org, owner.repo, KIND_CODES[kind], *paths, packed(told))
