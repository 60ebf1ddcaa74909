"""Hands items of work out, and takes answers: to each person an item once, for a while."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from auth import Tier
from auth.stores import utc_now
from gateway.contract.work import WorkSource
from gateway.errors import PortalError
from gateway.identity.stores.connection import Reached
from gateway.toolkit.sql import exclusive, insert_into
from gateway.work.lock import LOCK
from gateway.work.records import WorkItem
from gateway.work.tables import answers, items, leases

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.contract import Database

MAX_TAKEN = 20
"""Items that one person may have at a time."""
_BATCH_ITEMS = 50


class NotTaken(PortalError):
    """An answer that does not count; the text says why, and what to do."""

    code = "work_not_yours"
    status = 409


class Kind(NamedTuple):
    """A kind of work as the desk knows it.

    Attributes:
        name: with its plugin.
        opinions: how many answers it takes.
        lease: how long an item is the one's who took it.
    """

    name: str
    opinions: int
    lease: timedelta


class Desk:
    """The items as agents see them.

    Args:
        database: where they are kept.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = Reached(database)
        self._clock = clock

    # Items are taken.

    async def open_to(
        self, person: str, tier: Tier, kinds: Sequence[Kind]
    ) -> AsyncGenerator[WorkItem]:
        """The items that somebody could take, the oldest first, as far as tiers say.

        Args:
            person: who.
            tier: theirs.
            kinds: the kinds that they may do.
        """
        after: ColumnElement[bool] | None = None
        seen = [str(each) for each in Tier if tier.allows(each)]
        while kinds:
            where = [*self._takeable(person, kinds), items.c.tier.in_(seen)]
            query = select(items).where(*where, *([] if after is None else [after]))
            query = query.order_by(items.c.published, items.c.id).limit(_BATCH_ITEMS)
            async with self._database.connect() as connection:
                found = [WorkItem.of(row) for row in await connection.execute(query)]
            for each in found:
                yield each
            if len(found) < _BATCH_ITEMS:
                return
            last = found[-1]
            same = and_(items.c.published == last.published, items.c.id > last.id)
            after = or_(items.c.published > last.published, same)

    async def take(self, id: str, person: str, kind: Kind) -> datetime | None:
        """Take an item.

        Args:
            id: the item's.
            person: who takes it.
            kind: the item's.

        Returns:
            Until when it is theirs; None where it can no longer be taken, or they have many.
        """
        now = self._clock()
        until = now + kind.lease
        async with self._database.begin() as connection:
            await exclusive(connection, LOCK)
            mine = (leases.c.person == person, leases.c.until > now)
            held = select(func.count()).select_from(leases).where(*mine)
            if (await connection.scalar(held) or 0) >= MAX_TAKEN:
                return None
            query = select(items.c.extra).where(items.c.id == id, *self._takeable(person, [kind]))
            if (extra := await connection.scalar(query)) is None:
                return None
            places = kind.opinions + extra - await _waiting(connection, id)
            await self._make_room(connection, id, person, places)
            row = {"item": id, "person": person, "until": until}
            new = insert_into(connection, leases).values(row)
            keys = [leases.c.item, leases.c.person]
            renewed = new.on_conflict_do_update(index_elements=keys, set_={"until": until})
            await connection.execute(renewed)
        return until

    async def _make_room(
        self, connection: AsyncConnection, id: str, person: str, places: int
    ) -> None:
        """Take the place of somebody whose time is over, where no other is free."""
        others = select(leases.c.person, leases.c.until).where(
            leases.c.item == id, leases.c.person != person
        )
        found = list(await connection.execute(others.order_by(leases.c.until)))
        for each in found[: max(0, len(found) - places + 1)]:
            gone = delete(leases).where(leases.c.item == id, leases.c.person == each.person)
            await connection.execute(gone)

    def _takeable(self, person: str, kinds: Sequence[Kind]) -> Sequence[ColumnElement[bool]]:
        """The conditions under which an item has a place for somebody who has none."""
        of_item, live = answers.c.item == items.c.id, leases.c.until > self._clock()
        waiting = of_item & (answers.c.outcome == "waits")
        held = (leases.c.item == items.c.id) & live
        taken = (
            select(func.count()).select_from(answers).where(waiting).scalar_subquery()
            + select(func.count()).select_from(leases).where(held).scalar_subquery()
        )
        needed = case({each.name: each.opinions for each in kinds}, value=items.c.kind, else_=0)
        return (
            items.c.state == "open",
            items.c.kind.in_([each.name for each in kinds]),
            taken < needed + items.c.extra,
            ~exists().where(held, leases.c.person == person),
            ~exists().where(waiting, answers.c.person == person),
        )

    # Answers are brought.

    async def get(self, id: str) -> WorkItem | None:
        """An item by its id."""
        if not (id.isascii() and id.isprintable()):  # not every database takes it
            return None
        async with self._database.connect() as connection:
            row = (await connection.execute(select(items).where(items.c.id == id))).first()
        return None if row is None else WorkItem.of(row)

    async def bring(
        self, item: WorkItem, kind: Kind, answer: Mapping[str, Any], source: WorkSource
    ) -> int:
        """Keep somebody's answer to an item that they have taken; the same again is the same.

        Args:
            item: the item, as it was when the answer was checked.
            kind: the item's.
            answer: JSON values that fit the kind's schema.
            source: who answers.

        Returns:
            How many answers of others it takes still.

        Raises:
            NotTaken: they have not taken the item, or somebody else has since, or it is gone.
        """
        async with self._database.begin() as connection:
            await exclusive(connection, LOCK)
            row = (await connection.execute(select(items).where(items.c.id == item.id))).first()
            if row is None:
                raise NotTaken(GONE)
            if await self._is_brought(connection, item.id, source.person, answer):
                return await self._left(connection, item.id, kind.opinions + row.extra)
            if row.state != "open":
                raise NotTaken("This is done already. Take other work with take_work.")
            mine = delete(leases).where(leases.c.item == item.id, leases.c.person == source.person)
            if (await connection.execute(mine)).rowcount == 0:
                raise NotTaken(NOT_YOURS)
            await connection.execute(insert(answers), [_new(item, answer, source)])
            left = await self._left(connection, item.id, kind.opinions + row.extra)
            if left == 0:
                answered = update(items).where(items.c.id == item.id)
                await connection.execute(answered.values(state="answered", changed=self._clock()))
            return left

    async def _left(self, connection: AsyncConnection, id: str, needed: int) -> int:
        """How many answers an item takes still."""
        return max(0, needed - await _waiting(connection, id))

    async def _is_brought(
        self, connection: AsyncConnection, id: str, person: str, answer: Mapping[str, Any]
    ) -> bool:
        """Whether a person has brought this very answer, and asks once more what came of it."""
        theirs = select(answers.c.answer).where(
            answers.c.item == id, answers.c.person == person, answers.c.outcome == "waits"
        )
        return any(each == answer for each in await connection.scalars(theirs))


GONE = (
    "There is no such work: it was withdrawn, what it is about has changed, or the id is not one "
    "that take_work gave you. Take other work with take_work."
)
NOT_YOURS = (
    "You do not have this work: you have not taken it, or your time was over and somebody else "
    "has taken it since. Take work with take_work, and return it in time."
)


async def _waiting(connection: AsyncConnection, id: str) -> int:
    """How many answers an item has that nothing has become of."""
    where = (answers.c.item == id, answers.c.outcome == "waits")
    return await connection.scalar(select(func.count()).select_from(answers).where(*where)) or 0


def _new(item: WorkItem, answer: Mapping[str, Any], source: WorkSource) -> dict[str, Any]:
    return {
        "id": f"wa_{secrets.token_hex(10)}",
        "item": item.id,
        "kind": item.kind,
        "key": item.key,
        "person": source.person,
        "client": source.client,
        "model": source.model,
        "answer": dict(answer),
        "outcome": "waits",
        "at": source.at,
    }
