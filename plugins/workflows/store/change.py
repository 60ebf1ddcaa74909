"""One writing transaction, and what follows from what it writes.

A change of a mini-prompt or a skill card is a change of every workflow that uses it, so that one
version of a workflow is one plan. Each version of an item leaves a revision, and what search reads
is written anew. All of it happens in the transaction, or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.workflows import errors
from plugins.workflows.inputs import Writer
from plugins.workflows.model import PORTAL, Revision, Skill, TargetType, Visibility, Workflow
from plugins.workflows.store import revisions
from plugins.workflows.store.kinds import STAGE_TABLES, TABLES, TYPE_NAMES
from plugins.workflows.store.queries import find
from plugins.workflows.store.revisions import NewRevision
from plugins.workflows.store.tables import stages, workflows

_NAME_COLUMNS = {"name", "visibility", "deleted"}
"""Columns of mini-prompts and cards that decide which names a workflow shows."""
_BATCH_SIZE = 1_000
"""Rows that one statement changes."""
_LABELS = {TargetType.MINI_PROMPT: "prompt", TargetType.SKILL: "skill"}


@dataclass(frozen=True, slots=True)
class _Touched:
    """A changed mini-prompt or card; ``public`` is its name where others may know it, else None."""

    owner: str
    name: str
    public: str | None


class Change:
    """A transaction of one writer.

    Args:
        connection: a writing transaction that is alone with the playbook.
        writer: who writes.
        now: the time of everything that is written.

    Attributes:
        bumped: the workflows whose version has grown in this transaction.
        written: the workflows and cards that were written themselves.
        added: the ids of items that were never there before.
        automatic: whether an automatic prompt has changed, which is in every workflow.
        renamed: whether workflows show other names than before, of what they use.
        dropped: the digests of files that were taken from cards.
        read, read_skills: what was read of it since it was finished (``search_texts.py``).
    """

    def __init__(self, connection: AsyncConnection, writer: Writer, now: datetime) -> None:
        self.connection, self.writer, self.now = connection, writer, now
        self.bumped: set[str] = set()
        self.written: set[tuple[TargetType, str]] = set()
        self.added: set[str] = set()
        self.automatic = self.renamed = False
        self.dropped: set[str] = set()
        self.read: dict[str, Workflow] = {}
        self.read_skills: dict[str, Skill] = {}
        self._touched: dict[TargetType, dict[str, _Touched]] = {each: {} for each in STAGE_TABLES}
        self._revisions: list[NewRevision] = []

    @property
    def revised(self) -> Sequence[NewRevision]:
        """The versions that this change has made, in their order."""
        return self._revisions

    @property
    def touched(self) -> set[str]:
        """The ids of the mini-prompts and cards that were there and have changed."""
        return {id for each in self._touched.values() for id in each}

    async def own(self, type: TargetType, ref: str, version: int | None) -> Row[Any]:
        """The row of an item that the writer may edit.

        Args:
            type: what kind of item it is.
            ref: its id or key.
            version: the one that the writer has read, or None for whichever there is.

        Raises:
            ToolFailed: there is none, it is another's, or it has another version by now.
        """
        found = await find(self.connection, type, ref, self.writer.person, whole=True)
        if found.owner != self.writer.person:
            raise errors.not_yours(TYPE_NAMES[type])
        if version is not None and found.version != version:
            since = await revisions.since(self.connection, type, found.id, version)
            raise errors.stale(TYPE_NAMES[type], version, found.version, since)
        return found

    async def add(self, type: TargetType, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write new items, with all their columns except those that every item gets here.

        An item that the portal had before, and gets again, is the same one.

        Raises:
            ToolFailed: one is to be PUBLIC, and the writer may not publish.
        """
        for row in rows:
            self._may_show(row["visibility"])
        before = await self._before(type, [row["id"] for row in rows])
        new = [row for row in rows if row["id"] not in before]
        if new:
            given = {"version": 1, "created": self.now, "deleted": None, **self._now()}
            values = [{**row, **given, "owner": self.writer.person} for row in new]
            await self.connection.execute(insert(TABLES[type]), values)
        for row in rows:
            if old := before.get(row["id"]):
                await self.edit(type, old, {**row, "deleted": None}, ["created"])
            else:
                self.added.add(row["id"])
                self._written(type, row["id"], 1, ["created"])

    async def edit(
        self, type: TargetType, row: Row[Any], values: Mapping[str, Any], fields: Sequence[str]
    ) -> None:
        """Write new values of an item that was read in this transaction.

        Args:
            type: what kind of item it is.
            row: its columns as they were.
            values: the columns that are new.
            fields: what is new, for those who have read an older version.

        Raises:
            ToolFailed: it is PUBLIC, or is to be, and the writer may not publish.
        """
        if values.get("deleted") is None:
            self._may_show(values.get("visibility", row.visibility))
        version = row.version + 1
        await self._update(type, row.id, {**values, **self._now(), "version": version})
        self._written(type, row.id, version, fields)
        if type in self._touched:
            self._touch(type, row, values)

    async def remove(self, type: TargetType, row: Row[Any]) -> None:
        """Delete an item: its row stays, and gives up its key."""
        values = {"deleted": self.now, "key": f"{row.key}~{row.id}"}
        await self.edit(type, row, values, ["deleted"])

    async def discard(self, type: TargetType, row: Row[Any]) -> None:
        """Delete another owner's item that nothing uses any more; nobody's name is left on it."""
        values = {"deleted": self.now, "key": f"{row.key}~{row.id}", "updated": self.now}
        await self._update(type, row.id, {**values, "version": row.version + 1})

    async def finish(self) -> None:
        """Bump the workflows that use what has changed, and write all revisions.

        To be called once, behind everything else that is written.
        """
        if self.automatic:
            await self._bump({id: (v, ["automatic prompts"]) for id, v in await self._all()})
        else:
            await self._bump(await self._using())
        await revisions.write(self.connection, self._revisions)

    def _may_show(self, visibility: str) -> None:
        if visibility == Visibility.PUBLIC and not self.writer.may_publish:
            raise errors.may_not_publish()

    def _now(self) -> dict[str, Any]:
        return {"updated": self.now, "author": self.writer.name}

    async def _before(self, type: TargetType, ids: Sequence[str]) -> dict[str, Row[Any]]:
        """The portal's items that are there, or were."""
        if self.writer.person != PORTAL or not ids:
            return {}
        table = TABLES[type]
        rows = await self.connection.execute(select(table).where(table.c.id.in_(ids)))
        return {row.id: row for row in rows}

    async def _update(self, type: TargetType, id: str, values: Mapping[str, Any]) -> None:
        table = TABLES[type]
        await self.connection.execute(update(table).where(table.c.id == id).values(**values))

    def _written(self, type: TargetType, id: str, version: int, fields: Sequence[str]) -> None:
        self._revise(type, id, version, fields)
        if type is TargetType.WORKFLOW:
            self.bumped.add(id)
        if type is not TargetType.MINI_PROMPT:
            self.written.add((type, id))

    def _revise(self, type: TargetType, id: str, version: int, fields: Sequence[str]) -> None:
        new = Revision(version, self.now, self.writer.name, tuple(fields))
        self._revisions.append(NewRevision(type, id, new))

    def _touch(self, type: TargetType, row: Row[Any], values: Mapping[str, Any]) -> None:
        name = values.get("name", row.name)
        was_public = row.visibility == Visibility.PUBLIC
        is_public = values.get("visibility", row.visibility) == Visibility.PUBLIC
        public = row.name if was_public else name if is_public else None
        self.renamed = self.renamed or not values.keys().isdisjoint(_NAME_COLUMNS)
        before = self._touched[type].get(row.id)
        self._touched[type][row.id] = before or _Touched(row.owner, name, public)

    async def _all(self) -> list[tuple[str, int]]:
        query = select(workflows.c.id, workflows.c.version).where(workflows.c.deleted.is_(None))
        return [(row.id, row.version) for row in await self.connection.execute(query)]

    async def _using(self) -> dict[str, tuple[int, list[str]]]:
        """The workflows that use what has changed: their versions, and what it is."""
        found: dict[str, tuple[int, list[str]]] = {}
        for type, items in self._touched.items():
            if not items:
                continue
            places, item = STAGE_TABLES[type]
            query = (
                select(item.label("item"), workflows.c.id, workflows.c.owner, workflows.c.version)
                .distinct()
                .select_from(places.join(stages, stages.c.id == places.c.stage))
                .join(workflows, workflows.c.id == stages.c.workflow)
                .where(item.in_(sorted(items)), workflows.c.deleted.is_(None))
            )
            for row in await self.connection.execute(query):
                touched = items[row.item]
                name = touched.name if row.owner == touched.owner else touched.public
                called = _LABELS[type] if name is None else f"{_LABELS[type]}: {name}"
                found.setdefault(row.id, (row.version, []))[1].append(called)
        return found

    async def _bump(self, using: Mapping[str, tuple[int, Sequence[str]]]) -> None:
        grown = sorted(using.keys() - self.bumped)
        for id in grown:
            version, fields = using[id]
            self._revise(TargetType.WORKFLOW, id, version + 1, sorted(fields))
        for start in range(0, len(grown), _BATCH_SIZE):
            some = workflows.c.id.in_(grown[start : start + _BATCH_SIZE])
            values = {"version": workflows.c.version + 1, "updated": self.now}
            await self.connection.execute(update(workflows).where(some).values(values))
        self.bumped |= set(grown)
