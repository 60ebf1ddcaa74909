"""What becomes of work without anybody's word, and what admins see and do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from pydantic_core import to_json
from sqlalchemy import case, delete, exists, func, select, update

from auth.stores import utc_now
from gateway.contract.personal_data import PersonalFile
from gateway.identity.stores.connection import Reached
from gateway.toolkit.sql import exclusive
from gateway.work.lock import LOCK
from gateway.work.records import Answer, WorkItem
from gateway.work.tables import answers, applied, items, leases

if TYPE_CHECKING:
    from gateway.contract import Database

ANSWERS_RETENTION = timedelta(days=31)
"""How long it is kept who has answered what."""
MAX_LISTED = 1000
"""Items or answers that one look gives."""


class KindCount(NamedTuple):
    """How many items a kind has in a state.

    Attributes:
        kind: with its plugin.
        state: the items'.
        number: how many.
    """

    kind: str
    state: str
    number: int


class WorkUpkeep:
    """Looks after items and answers.

    Args:
        database: where they are kept.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = Reached(database)
        self._clock = clock

    async def left(self, since: timedelta) -> Sequence[WorkItem]:
        """The items that have waited to be settled for so long that their job may be lost."""
        waits = (items.c.state == "answered", items.c.changed <= self._clock() - since)
        async with self._database.connect() as connection:
            rows = await connection.execute(select(items).where(*waits).limit(MAX_LISTED))
            return [WorkItem.of(row) for row in rows]

    def minute(self) -> int:
        """The minute that it is, since the epoch: replicas that look in one queue one job."""
        return int(self._clock().timestamp() // 60)

    async def forget(self) -> None:
        """Delete what is too old: who answered what, and that it was put to use."""
        before = self._clock() - ANSWERS_RETENTION
        still = exists().where(items.c.id == answers.c.item, answers.c.outcome == "waits")
        async with self._database.begin() as connection:
            await exclusive(connection, LOCK)
            await connection.execute(delete(answers).where(answers.c.at < before, ~still))
            kept = select(answers.c.id)
            old = delete(applied).where(applied.c.at < before, applied.c.answer.not_in(kept))
            await connection.execute(old)

    # Admins look.

    async def counts(self) -> Sequence[KindCount]:
        """How many items there are, by kind and state."""
        query = select(items.c.kind, items.c.state, func.count()).group_by(
            items.c.kind, items.c.state
        )
        async with self._database.connect() as connection:
            rows = await connection.execute(query.order_by(items.c.kind, items.c.state))
            return [KindCount(*row) for row in rows]

    async def items(self, states: Collection[str]) -> Sequence[WorkItem]:
        """The items in some states, the oldest first."""
        query = select(items).where(items.c.state.in_(list(states)))
        query = query.order_by(items.c.published, items.c.id).limit(MAX_LISTED)
        async with self._database.connect() as connection:
            return [WorkItem.of(row) for row in await connection.execute(query)]

    async def answers(self, person: str | None = None) -> Sequence[Answer]:
        """The answers that are remembered, the newest first, or those of one person."""
        whose = [] if person is None else [answers.c.person == person]
        query = select(answers).where(*whose).order_by(answers.c.at.desc(), answers.c.id)
        async with self._database.connect() as connection:
            rows = await connection.execute(query.limit(MAX_LISTED))
            return [Answer.of(row) for row in rows]

    async def again(self, id: str) -> bool:
        """Have an item that is unsettled done again; whether there was one.

        Answers that its plugin could not put to use are tried once more; others are asked for anew.
        """
        waits = exists().where(answers.c.item == items.c.id, answers.c.outcome == "waits")
        failed = waits & (items.c.refusals > 0)
        state = case((failed, "answered"), else_="open")
        here = update(items).where(items.c.id == id, items.c.state == "unsettled")
        values = {"state": state, "refusals": 0, "extra": 0, "reason": None}
        async with self._database.begin() as connection:
            await exclusive(connection, LOCK)
            moved = here.values(changed=self._clock(), **values).returning(items.c.state)
            now = await connection.scalar(moved)
            if now == "open":
                void = update(answers).where(answers.c.item == id, answers.c.outcome == "waits")
                await connection.execute(void.values(outcome="void", answer=None))
            return now is not None

    # People come and go (``gateway.contract.personal_data.PersonalData``).

    async def people(self) -> Collection[str]:
        """Everyone who has answered, or has taken something."""
        of_answers = select(answers.c.person).where(answers.c.person != "")
        both = of_answers.union(select(leases.c.person))
        async with self._database.connect() as connection:
            return set(await connection.scalars(both))

    async def export(self, person: str) -> AsyncIterator[PersonalFile]:
        """What somebody has answered, one file of it all."""
        query = select(answers).where(answers.c.person == person).order_by(answers.c.at)
        async with self._database.connect() as connection:
            found = [Answer.of(row) for row in await connection.execute(query)]
        if found:
            told = [
                {
                    "work": each.kind,
                    "about": each.key,
                    "answer": each.answer,
                    "client": each.client,
                    "model": each.model,
                    "outcome": each.outcome,
                    "at": each.at,
                }
                for each in found
            ]
            yield PersonalFile("work.json", to_json(told, indent=2))

    async def erase(self, person: str) -> None:
        """Forget who somebody was; what others wait for is asked for anew."""
        mine, of_open = answers.c.person == person, answers.c.item == items.c.id
        waits = exists().where(of_open, items.c.state == "open")
        async with self._database.begin() as connection:
            await exclusive(connection, LOCK)
            void = update(answers).where(mine, answers.c.outcome == "waits", waits)
            await connection.execute(void.values(outcome="void", answer=None))
            await connection.execute(update(answers).where(mine).values(person="", client=""))
            await connection.execute(delete(leases).where(leases.c.person == person))
