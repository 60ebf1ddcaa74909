"""What ends requests without anybody's word: time, a changed rule, a deleted account."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import ColumnElement, delete, or_, select, update

from gateway.approvals.records import record
from gateway.approvals.request import OPEN, BoundCall
from gateway.approvals.tables import approvals
from gateway.identity.stores.connection import Reached
from gateway.identity.stores.tables import forgotten

if TYPE_CHECKING:
    from typing import Literal

    from gateway.contract.services import Database

ENDED_RETENTION = timedelta(days=31)
"""How long a request that has ended is shown."""
ARGUMENTS_RETENTION = timedelta(hours=1)
"""How long a used approval keeps its arguments: the call may not have finished."""


class _Portal(NamedTuple):
    """Whose doing it is."""

    person: str = ""
    tier: str = ""
    surface: str = "portal"


class Upkeep:
    """Ends requests, and forgets them.

    Args:
        database: where they are.
    """

    def __init__(self, database: Database) -> None:
        self._database = Reached(database)

    async def void(self, current: Mapping[str, str], now: datetime, lasting: str = "") -> int:
        """Void what was asked under rules that are not in force any more.

        Args:
            current: the versions of the rules in force, by their items; what is not among them may
                be of a plugin that is not open, and waits.
            now: the time.
            lasting: the version of a rule that is in force for every item.

        Returns:
            How many requests.
        """
        others = [
            (approvals.c.item == item) & approvals.c.rule.not_in((rule, lasting))
            for item, rule in current.items()
        ]
        return await self._end("void", or_(*others), now) if others else 0

    async def expire(self, now: datetime) -> int:
        """Note what has expired; returns how many requests."""
        return await self._end("expired", approvals.c.expires <= now, now)

    async def forget(self, now: datetime) -> None:
        """Delete what ended long ago, and what people asked for whose accounts are deleted."""
        used = (approvals.c.state == "used", approvals.c.ended < now - ARGUMENTS_RETENTION)
        bare = update(approvals).where(*used, approvals.c.arguments.is_not(None))
        gone = approvals.c.person.in_(select(forgotten.c.person))
        old = or_(approvals.c.ended < now - ENDED_RETENTION, gone)
        async with self._database.begin() as connection:
            await connection.execute(bare.values(arguments=None, accounts=None, back=None))
            await connection.execute(delete(approvals).where(old))

    async def _end(
        self, state: Literal["void", "expired"], where: ColumnElement[bool], now: datetime
    ) -> int:
        ended = (
            update(approvals)
            .where(approvals.c.state.in_(OPEN), where)
            .values(state=state, ended=now, arguments=None, accounts=None, back=None)
            .returning(
                approvals.c.id,
                approvals.c.person,
                approvals.c.item,
                approvals.c.digest,
                approvals.c.rule,
            )
        )
        async with self._database.begin() as connection:
            rows = list(await connection.execute(ended))
            for id, *call in rows:
                await record(connection, now, id, BoundCall(*call), state, _Portal())
            return len(rows)
