"""Reads what the last indexes of a repository changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, literal, or_, select

from gateway.contract import Database
from plugins.codegraph.changes.compare import ChangeKind
from plugins.codegraph.changes.log import UpdateKind
from plugins.codegraph.changes.told import KIND_CODES, KINDS, Told, unpacked
from plugins.codegraph.store.change_tables import changes, updates
from plugins.codegraph.store.graph import RepositoryView


@dataclass(frozen=True, slots=True)
class PastUpdate:
    """One index that changed something.

    Attributes:
        id: its number: higher is later.
        at: when.
        kind: how it is told.
        commit, former_commit, branch, author, subject: what it reflects, or "".
        counts: of changes by kind, and of files; of the first index, of all it has.
        cascade: by the number of a change, what came of it for its callers
            (``justification/cascade.py``); None while that is not known.
        kept: how many of its changes are kept.
    """

    id: int
    at: datetime
    kind: UpdateKind
    commit: str
    former_commit: str
    branch: str
    author: str
    subject: str
    counts: Mapping[str, int]
    cascade: Mapping[str, Mapping[str, Any]] | None
    kept: int

    @property
    def changed(self) -> int:
        """How many entities it changed."""
        return sum(self.counts.get(kind.value, 0) for kind in ChangeKind)

    @property
    def is_commit(self) -> bool:
        """Whether it was of another commit than the one before."""
        return bool(self.commit) and self.commit != self.former_commit


@dataclass(frozen=True, slots=True)
class PastChange:
    """One change of an index.

    Attributes:
        update: the number of the index.
        number: its number within that.
        kind: what became of the entity.
        told: all about it.
    """

    update: int
    number: int
    kind: ChangeKind
    told: Told


class ChangeHistory:
    """Reads changes.

    Args:
        database: the plugin's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def updates(
        self,
        view: RepositoryView,
        limit: int,
        since: datetime | None = None,
        after: int = 0,
    ) -> list[PastUpdate]:
        """The newest indexes that changed something, newest first.

        Args:
            view: the repository.
            limit: how many at most.
            since: only those after this time.
            after: only those after the one with this number.
        """
        kept = (
            select(func.count())
            .where(changes.c.update == updates.c.id, changes.c.repo == view.id)
            .scalar_subquery()
        )
        query = select(updates, kept.label("kept")).where(*_mine(view), updates.c.id > after)
        if since is not None:
            query = query.where(updates.c.at > since)
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(updates.c.id.desc()).limit(limit))
            return [_update(row) for row in rows]

    async def oldest(self, view: RepositoryView) -> PastUpdate | None:
        """The first index that is kept."""
        query = select(updates, literal(0).label("kept")).where(*_mine(view))
        async with self._database.read() as connection:
            row = (await connection.execute(query.order_by(updates.c.id).limit(1))).first()
        return None if row is None else _update(row)

    async def of_commit(self, view: RepositoryView, commit: str) -> int | None:
        """The number of the index after which everything is newer than a commit.

        Args:
            view: the repository.
            commit: the beginning of its id.

        Returns:
            None where the commit is not known: never indexed, or too long ago.
        """
        reached = select(func.max(updates.c.id)).where(
            *_mine(view),
            updates.c.commit.startswith(commit, autoescape=True),
            updates.c.commit != updates.c.former_commit,
        )
        left = select(func.max(updates.c.id)).where(
            *_mine(view),
            updates.c.former_commit.startswith(commit, autoescape=True),
            updates.c.commit != updates.c.former_commit,
        )
        async with self._database.read() as connection:
            found = await connection.scalar(reached)
            gone = await connection.scalar(left) if found is None else None
        if found is not None:
            return int(found)
        return None if gone is None else int(gone) - 1

    async def changes(
        self,
        view: RepositoryView,
        of: Sequence[int],
        limit: int,
        paths: Collection[str] = (),
        kinds: Collection[ChangeKind] = (),
    ) -> tuple[list[PastChange], int]:
        """The changes of some indexes, newest index first.

        Args:
            view: the repository.
            of: the numbers of the indexes.
            limit: how many at most.
            paths: only in these files or folders, before or after; empty for all.
            kinds: only of these kinds; empty for all.

        Returns:
            The changes, and how many there are.
        """
        if not of:
            return [], 0
        only = [changes.c.org == view.org, changes.c.repo == view.id, changes.c.update.in_(of)]
        if paths:
            columns_of = changes.c.path, changes.c.former_path
            only.append(or_(*(_below(column, each) for column in columns_of for each in paths)))
        if kinds:
            only.append(changes.c.kind.in_([KIND_CODES[kind] for kind in kinds]))
        columns = changes.c.update, changes.c.number, changes.c.kind, changes.c.data
        order = changes.c.update.desc(), changes.c.number
        async with self._database.read() as connection:
            rows = await connection.execute(
                select(*columns).where(*only).order_by(*order).limit(limit)
            )
            found = [PastChange(row[0], row[1], KINDS[row[2]], unpacked(row[3])) for row in rows]
            count = select(func.count()).select_from(changes).where(*only)
            return found, int(await connection.scalar(count) or 0)


def _mine(view: RepositoryView) -> tuple[ColumnElement[bool], ...]:
    return updates.c.org == view.org, updates.c.repo == view.id


def _below(column: Any, path: str) -> ColumnElement[bool]:
    folder: ColumnElement[bool] = column.startswith(f"{path}/", autoescape=True)
    return or_(column == path, folder)


def _update(row: Any) -> PastUpdate:
    return PastUpdate(
        row.id,
        row.at,
        UpdateKind(row.kind),
        row.commit,
        row.former_commit,
        row.branch,
        row.author,
        row.subject,
        row.counts,
        row.cascade,
        row.kept,
    )
