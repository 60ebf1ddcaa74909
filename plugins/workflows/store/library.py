"""The items that people have put into their libraries; that grants no access to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, delete

from gateway.contract import Database
from gateway.toolkit.sql import insert_into
from plugins.workflows.model import TargetType
from plugins.workflows.store.tables import library
from plugins.workflows.store.targets import find_target

LIBRARY_TYPES = (TargetType.WORKFLOW, TargetType.SKILL)
"""The kinds of item that a library may hold."""


@dataclass(frozen=True, slots=True)
class LibraryEdit:
    """The outcome of adding or removing an item.

    Attributes:
        changed: False where it was so already.
    """

    type: TargetType
    id: str
    changed: bool


class Library:
    """The libraries of all people; each is changed by its own person only."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database, self._clock = database, clock

    async def add(self, person: str, ref: str, type: TargetType | None = None) -> LibraryEdit:
        """Keep an item; one that is kept already stays.

        Args:
            person: whose library.
            ref: the item's id or key.
            type: what it is, where a key alone could mean several; one of ``KINDS``.

        Raises:
            ToolFailed: the person sees no such item.
        """
        async with self._database.begin() as connection:
            found = await find_target(connection, ref, person, _types(type))
            new = insert_into(connection, library).values(
                person=person, type=found.type, target=found.id, added=self._clock()
            )
            result = await connection.execute(new.on_conflict_do_nothing())
        return LibraryEdit(found.type, found.id, result.rowcount > 0)

    async def remove(self, person: str, ref: str, type: TargetType | None = None) -> LibraryEdit:
        """Keep an item no longer.

        By its id that is possible even where its owner has hidden it since.

        Args:
            person: whose library.
            ref: the item's id or key.
            type: as in :meth:`add`.

        Raises:
            ToolFailed: the person neither keeps nor sees such an item.
        """
        kept = and_(library.c.person == person, library.c.type.in_(_types(type)))
        async with self._database.begin() as connection:
            gone = delete(library).where(kept, library.c.target == ref).returning(library.c.type)
            row = (await connection.execute(gone)).first()
            if row is not None:
                return LibraryEdit(TargetType(row.type), ref, changed=True)
            found = await find_target(connection, ref, person, _types(type))
            this = and_(library.c.type == found.type, library.c.target == found.id)
            result = await connection.execute(delete(library).where(kept, this))
        return LibraryEdit(found.type, found.id, result.rowcount > 0)


def _types(type: TargetType | None) -> tuple[TargetType, ...]:
    return LIBRARY_TYPES if type is None else (type,)
