"""Browser sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select
from sqlalchemy.exc import IntegrityError

from auth.callers import SignedOut
from auth.stores import NoSuchPerson, Session
from gateway.identity.stores.connection import Reached
from gateway.identity.stores.provider_sessions import came_of
from gateway.identity.stores.tables import sessions


class SqlSessions:
    """``auth.stores.SessionStore`` in the database."""

    def __init__(self, database: Reached, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, session: Session) -> None:
        """Keep a session.

        Raises:
            NoSuchPerson: there is no such person.
        """
        try:
            async with self._database.begin() as connection:
                await connection.execute(insert(sessions).values(**asdict(session)))
        except IntegrityError:
            raise NoSuchPerson from None

    async def get(self, digest: str) -> Session | None:
        """The session of that digest, where it has not ended."""
        found = await self._read(sessions.c.digest == digest)
        return found[0] if found else None

    async def of(self, person: str) -> list[Session]:
        """A person's sessions that have not ended, the newest first."""
        return await self._read(sessions.c.person == person)

    async def end(self, digest: str) -> None:
        """End a session."""
        await self._delete(sessions.c.digest == digest)

    async def end_all(self, person: str) -> None:
        """End all sessions of a person."""
        await self._delete(sessions.c.person == person)

    async def end_of(self, who: SignedOut) -> None:
        """End the sessions that came of a provider's session that ended there."""
        await self._delete(came_of(sessions, who))

    async def _read(self, which: ColumnElement[bool]) -> list[Session]:
        query = select(sessions).where(which, sessions.c.expires > self._clock())
        query = query.order_by(sessions.c.created.desc(), sessions.c.digest)
        async with self._database.connect() as connection:
            return [_session(row) for row in await connection.execute(query)]

    async def _delete(self, which: ColumnElement[bool]) -> None:
        async with self._database.begin() as connection:
            await connection.execute(delete(sessions).where(which))


def _session(row: Any) -> Session:
    return Session(
        row.digest, row.person, row.created, row.expires, row.agent, row.account, row.sid
    )
