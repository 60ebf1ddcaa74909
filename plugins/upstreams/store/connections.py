"""People's connections in the database: sealed, one for each person and server."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from gateway.contract import Database, NotOpened, Vault
from gateway.toolkit.sql import insert_into, is_postgres

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.ext.asyncio import AsyncConnection

LEASE_SECONDS = 60
"""Seconds after which a renewal that did not end is another replica's to try."""

_VERSIONS = 2**62

Status = Literal["connected", "expired"]


@dataclass(frozen=True, slots=True)
class Kept:
    """A person's connection to a server.

    Attributes:
        person: whose.
        server: the server's name.
        target: where the server was then: what was given there goes nowhere else.
        tokens: what was given, as text; in the database it is sealed.
        status: whether the server takes it still.
        expires: when it ends, where that is known.
        detail: why it is expired, for the person.
        version: another number after each change.
    """

    person: str
    server: str
    target: str
    tokens: str
    status: Status = "connected"
    expires: datetime | None = None
    detail: str = ""
    version: int = 0

    def __repr__(self) -> str:
        """Whose and which; never the tokens."""
        return f"Kept({self.person!r}, {self.server!r}, {self.status!r})"


class ConnectionStore:
    """Keeps connections, and what the portal is to authorization servers.

    Args:
        database: the plugin's.
        vault: seals what is secret.
    """

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database = database
        self._vault = vault

    async def get(self, person: str, server: str) -> Kept | None:
        """A person's connection to a server."""
        found = await self.of(person, server)
        return found[0] if found else None

    async def of(self, person: str, server: str | None = None) -> list[Kept]:
        """A person's connections, by the servers' names."""
        from sqlalchemy import select

        from plugins.upstreams.store.tables import connections as table

        query = select(table).where(table.c.person == person).order_by(table.c.server)
        if server is not None:
            query = query.where(table.c.server == server)
        async with self._database.read() as connection:
            return [self._kept(row) for row in await connection.execute(query)]

    async def keep(self, kept: Kept) -> None:
        """Keep a new connection, in place of what there was."""
        from plugins.upstreams.store.tables import connections as table

        # A number that no connection before it had: a renewal of that one must not end up here.
        values = {**self._values(kept), "leased": 0, "version": secrets.randbelow(_VERSIONS)}
        async with self._database.begin() as connection:
            insert = insert_into(connection, table).values(
                person=kept.person, server=kept.server, **values
            )
            await connection.execute(
                insert.on_conflict_do_update(
                    index_elements=[table.c.person, table.c.server], set_=values
                )
            )

    async def lease(self, kept: Kept) -> bool:
        """Whether it is ours to renew a connection: nobody has since, and nobody else is at it."""
        from sqlalchemy import update

        from plugins.upstreams.store.tables import connections as table

        async with self._database.begin() as connection:
            now = _now(connection)
            free = update(table).where(*_same(kept), table.c.leased <= now)
            done = await connection.execute(free.values(leased=now + LEASE_SECONDS))
            return bool(done.rowcount)

    async def renew(self, before: Kept, after: Kept) -> bool:
        """Keep what a renewal gave, and let go of the lease; false where there was a change."""
        from sqlalchemy import update

        from plugins.upstreams.store.tables import connections as table

        values = {**self._values(after), "leased": 0, "version": before.version + 1}
        async with self._database.begin() as connection:
            change = update(table).where(*_same(before)).values(**values)
            return bool((await connection.execute(change)).rowcount)

    async def release(self, kept: Kept) -> None:
        """Let go of a lease without a change: the next one may try."""
        from sqlalchemy import update

        from plugins.upstreams.store.tables import connections as table

        async with self._database.begin() as connection:
            await connection.execute(update(table).where(*_same(kept)).values(leased=0))

    async def forget(self, person: str, server: str | None = None) -> None:
        """Forget a person's connection to a server, or to all."""
        from sqlalchemy import delete

        from plugins.upstreams.store.tables import connections as table

        query = delete(table).where(table.c.person == person)
        if server is not None:
            query = query.where(table.c.server == server)
        async with self._database.begin() as connection:
            await connection.execute(query)

    async def people(self) -> set[str]:
        """Everyone who has a connection."""
        from sqlalchemy import select

        from plugins.upstreams.store.tables import connections as table

        async with self._database.read() as connection:
            return {row.person for row in await connection.execute(select(table.c.person))}

    async def latest(self, server: str, target: str) -> str | None:
        """The person whose good connection to a server has existed longest."""
        from sqlalchemy import select

        from plugins.upstreams.store.tables import connections as table

        query = (
            select(table.c.person)
            .where(
                table.c.server == server, table.c.target == target, table.c.status == "connected"
            )
            .order_by(table.c.changed, table.c.person)
            .limit(1)
        )
        async with self._database.read() as connection:
            person: str | None = await connection.scalar(query)
            return person

    # What the portal is to authorization servers.

    async def client(self, issuer: str, callback: str) -> str | None:
        """What an authorization server has registered the portal as, as text."""
        from sqlalchemy import select

        from plugins.upstreams.store.tables import clients

        query = select(clients.c.sealed).where(
            clients.c.issuer == issuer, clients.c.callback == callback
        )
        async with self._database.read() as connection:
            sealed = await connection.scalar(query)
        try:
            return None if sealed is None else self._vault.open(sealed, f"client {issuer}")
        except NotOpened:
            return None

    async def keep_client(self, issuer: str, callback: str, text: str) -> None:
        """Keep it, for the next person."""
        from plugins.upstreams.store.tables import clients

        sealed = self._vault.seal(text, f"client {issuer}")
        async with self._database.begin() as connection:
            insert = insert_into(connection, clients)
            await connection.execute(
                insert.values(
                    issuer=issuer, callback=callback, sealed=sealed
                ).on_conflict_do_update(
                    index_elements=[clients.c.issuer, clients.c.callback], set_={"sealed": sealed}
                )
            )

    def _values(self, kept: Kept) -> dict[str, Any]:
        return {
            "target": kept.target,
            "sealed": self._vault.seal(kept.tokens, _about(kept.person, kept.server)),
            "status": kept.status,
            "expires": kept.expires,
            "detail": kept.detail,
            "changed": datetime.now(UTC),
        }

    def _kept(self, row: Any) -> Kept:
        status, detail = row.status, row.detail
        try:
            tokens = self._vault.open(row.sealed, _about(row.person, row.server))
        except NotOpened:
            tokens, status, detail = "", "expired", "The portal's key is another one since."
        return Kept(
            row.person, row.server, row.target, tokens, status, row.expires, detail, row.version
        )


def _about(person: str, server: str) -> str:
    return f"connection {server} {person}"


def _same(kept: Kept) -> Sequence[ColumnElement[bool]]:
    from plugins.upstreams.store.tables import connections as table

    return (
        table.c.person == kept.person,
        table.c.server == kept.server,
        table.c.version == kept.version,
    )


def _now(connection: AsyncConnection) -> ColumnElement[int]:
    """Seconds since the epoch by the database's clock, which all replicas share."""
    from sqlalchemy import BigInteger, cast, func

    if is_postgres(connection):
        return cast(func.floor(func.date_part("epoch", func.clock_timestamp())), BigInteger)
    return cast(func.strftime("%s", "now"), BigInteger)
