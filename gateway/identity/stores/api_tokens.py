"""API tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from auth.stores import ApiToken, NoSuchPerson
from auth.tiers import Tier
from gateway.identity.stores.connection import Reached
from gateway.identity.stores.tables import api_tokens, people
from gateway.toolkit.sql import exclusive, lock_number


class SqlApiTokens:
    """``auth.stores.ApiTokenStore`` in the database."""

    def __init__(self, database: Reached, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, token: ApiToken, digest: str, *, at_most: int | None = None) -> bool:
        """Keep a token; False where the person already has ``at_most`` that are still good.

        Raises:
            NoSuchPerson: it is a person's, and there is no such person.
        """
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("", token.person))
            if token.granted is None and not await _exists(connection, token.person):
                raise NoSuchPerson
            if at_most is not None and await self._good(connection, token.person) >= at_most:
                return False
            await connection.execute(insert(api_tokens).values(digest=digest, **_row(token)))
            return True

    async def by_digest(self, digest: str) -> ApiToken | None:
        """The token of that digest, also an expired or revoked one."""
        found = await self._read(select(api_tokens).where(api_tokens.c.digest == digest))
        return found[0] if found else None

    async def of(self, person: str, *, ended: bool = False) -> list[ApiToken]:
        """A person's tokens, the newest first; those that were revoked only with ``ended``."""
        query = select(api_tokens).where(api_tokens.c.person == person)
        if not ended:
            query = query.where(api_tokens.c.revoked.is_(None))
        return await self._read(query.order_by(api_tokens.c.created.desc(), api_tokens.c.id))

    async def operators(self) -> list[ApiToken]:
        """The operators' tokens that are not revoked, by name."""
        query = select(api_tokens).where(
            api_tokens.c.granted.is_not(None), api_tokens.c.revoked.is_(None)
        )
        return await self._read(query.order_by(api_tokens.c.name, api_tokens.c.created))

    async def used(self, uses: Mapping[str, datetime]) -> None:
        """Note when tokens were used, by their ids; an earlier time than is known changes nothing.

        In the order of the ids, so that two replicas do not wait for each other.
        """
        at = bindparam("at", type_=api_tokens.c.used.type)
        earlier = or_(api_tokens.c.used.is_(None), api_tokens.c.used < at)
        note = update(api_tokens).where(api_tokens.c.id == bindparam("token"), earlier)
        rows = [{"token": token, "at": uses[token]} for token in sorted(uses)]
        async with self._database.begin() as connection:
            await connection.execute(note.values(used=at), rows)

    async def revoke(self, token_id: str, person: str) -> bool:
        """Revoke a person's token; False where there is no such one. Twice is no error."""
        own = and_(api_tokens.c.id == token_id, api_tokens.c.person == person)
        await self._change(own, api_tokens.c.revoked.is_(None), revoked=self._clock())
        return bool(await self._read(select(api_tokens).where(own)))

    async def revoke_all(self, person: str) -> None:
        """Revoke all tokens of a person."""
        async with self._database.begin() as connection:
            await exclusive(
                connection, lock_number("", person)
            )  # one that is being added is revoked too
            good = and_(api_tokens.c.person == person, api_tokens.c.revoked.is_(None))
            await connection.execute(update(api_tokens).where(good).values(revoked=self._clock()))

    async def _good(self, connection: AsyncConnection, person: str) -> int:
        later = or_(api_tokens.c.expires.is_(None), api_tokens.c.expires > self._clock())
        good = and_(api_tokens.c.person == person, api_tokens.c.revoked.is_(None), later)
        count = await connection.scalar(select(func.count()).where(good))
        return int(count or 0)

    async def _change(self, *which: ColumnElement[bool], **values: Any) -> None:
        async with self._database.begin() as connection:
            await connection.execute(update(api_tokens).where(*which).values(**values))

    async def _read(self, query: Select[Any]) -> list[ApiToken]:
        async with self._database.connect() as connection:
            return [_token(row) for row in await connection.execute(query)]


async def _exists(connection: AsyncConnection, person: str) -> bool:
    return await connection.scalar(select(people.c.id).where(people.c.id == person)) is not None


def _row(token: ApiToken) -> dict[str, Any]:
    return asdict(token) | {"tools": None if token.tools is None else sorted(token.tools)}


def _token(row: Any) -> ApiToken:
    return ApiToken(
        id=row.id,
        person=row.person,
        name=row.name,
        ceiling=Tier(row.ceiling),
        granted=None if row.granted is None else Tier(row.granted),
        tools=None if row.tools is None else frozenset(row.tools),
        created=row.created,
        expires=row.expires,
        used=row.used,
        revoked=row.revoked,
    )
