"""Grants, authorization codes and refresh tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, insert, select, update
from sqlalchemy.exc import IntegrityError

from auth.callers import SignedOut
from auth.stores import Code, Grant, NoSuchPerson, RefreshToken
from gateway.identity.stores.connection import Reached
from gateway.identity.stores.provider_sessions import came_of
from gateway.identity.stores.tables import codes, grants, refresh_tokens


class SqlGrants:
    """``auth.stores.GrantStore`` in the database."""

    def __init__(self, database: Reached, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, grant: Grant, code: Code | None = None, digest: str = "") -> None:
        """Keep a grant together with its code, where it has one.

        Raises:
            NoSuchPerson: there is no such person.
        """
        try:
            async with self._database.begin() as connection:
                await connection.execute(insert(grants).values(**asdict(grant)))
                if code is not None:
                    await connection.execute(insert(codes).values(digest=digest, **asdict(code)))
        except IntegrityError:
            raise NoSuchPerson from None

    async def get(self, grant_id: str) -> Grant | None:
        """The grant of that id, also a revoked one."""
        found = await self._read(grants.c.id == grant_id)
        return found[0] if found else None

    async def of(self, person: str, *, ended: bool = False) -> list[Grant]:
        """A person's grants that have been used and are not revoked, the newest first.

        Args:
            person: whose.
            ended: whether those that were revoked or never used are wanted too.
        """
        alive = [] if ended else [grants.c.revoked.is_(None), grants.c.used.is_not(None)]
        return await self._read(grants.c.person == person, *alive)

    async def revoke(self, grant_ids: Iterable[str]) -> None:
        """Revoke grants; a code or refresh token of a revoked grant is not found."""
        await self._revoke(grants.c.id.in_(list(grant_ids)))

    async def revoke_all(self, person: str) -> None:
        """Revoke all grants of a person, also those whose code was not used yet."""
        await self._revoke(grants.c.person == person)

    async def revoke_of(self, who: SignedOut) -> list[str]:
        """Revoke the grants that came of a provider's session that ended there; their ids."""
        good = came_of(grants, who) & grants.c.revoked.is_(None)
        ended = update(grants).where(good).values(revoked=self._clock()).returning(grants.c.id)
        async with self._database.begin() as connection:
            return list(await connection.scalars(ended))

    async def code(self, digest: str) -> tuple[Code, bool] | None:
        """A code, and whether it was spent already; None also where its grant was revoked."""
        row = await self._hanging(codes, digest)
        if row is None:
            return None
        code = Code(row.grant, row.redirect_uri, row.explicit, row.challenge, row.expires)
        return code, row.spent is not None

    async def spend_code(self, digest: str) -> bool:
        """Spend a code; only the first attempt, on any replica, gets True."""
        return await self._spend(codes, digest)

    async def add_refresh(self, token: RefreshToken, digest: str) -> None:
        """Keep a refresh token, and note that its grant was used.

        Raises:
            LookupError: the grant is not there, or was revoked.
        """
        good = (grants.c.id == token.grant) & grants.c.revoked.is_(None)
        async with self._database.begin() as connection:
            result = await connection.execute(update(grants).where(good).values(used=self._clock()))
            if not result.rowcount:
                raise LookupError("The grant is not there, or was revoked.")
            await connection.execute(insert(refresh_tokens).values(digest=digest, **asdict(token)))

    async def refresh(self, digest: str) -> tuple[RefreshToken, bool] | None:
        """A refresh token, and whether it was spent already; None where its grant was revoked."""
        row = await self._hanging(refresh_tokens, digest)
        return (
            None if row is None else (RefreshToken(row.grant, row.expires), row.spent is not None)
        )

    async def spend_refresh(self, digest: str) -> bool:
        """Spend a refresh token; only the first attempt, on any replica, gets True."""
        return await self._spend(refresh_tokens, digest)

    async def _read(self, *which: ColumnElement[bool]) -> list[Grant]:
        query = select(grants).where(*which).order_by(grants.c.created.desc(), grants.c.id)
        async with self._database.connect() as connection:
            return [_grant(row) for row in await connection.execute(query)]

    async def _revoke(self, which: ColumnElement[bool]) -> None:
        good = which & grants.c.revoked.is_(None)
        async with self._database.begin() as connection:
            await connection.execute(update(grants).where(good).values(revoked=self._clock()))

    async def _hanging(self, table: Table, digest: str) -> Any:
        """A row of what hangs on grants, where its grant is good."""
        query = select(table).join(grants).where(table.c.digest == digest)
        async with self._database.connect() as connection:
            return (await connection.execute(query.where(grants.c.revoked.is_(None)))).first()

    async def _spend(self, table: Table, digest: str) -> bool:
        good = select(grants.c.id).where(grants.c.revoked.is_(None))
        which = (table.c.digest == digest) & table.c.spent.is_(None) & table.c.grant.in_(good)
        async with self._database.begin() as connection:
            result = await connection.execute(
                update(table).where(which).values(spent=self._clock())
            )
            return result.rowcount == 1


def _grant(row: Any) -> Grant:
    return Grant(
        id=row.id,
        person=row.person,
        client_id=row.client_id,
        client_name=row.client_name,
        resource=row.resource,
        scope=tuple(row.scope),
        created=row.created,
        used=row.used,
        revoked=row.revoked,
        account=row.account,
        sid=row.sid,
    )
