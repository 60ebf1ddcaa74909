"""Takes items of work in, and back; the same item twice is one item."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import from_json
from sqlalchemy import delete, select, update

from auth import Tier
from auth.stores import utc_now
from gateway.contract.work import WorkState
from gateway.identity.stores.connection import Reached
from gateway.toolkit.sql import exclusive, insert_into
from gateway.work.lock import LOCK
from gateway.work.records import checked_context, checked_key, digest_of
from gateway.work.tables import answers, items

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.contract import ContentScrub, Database


class Visibility(NamedTuple):
    """Who may see an item's context.

    Attributes:
        tier: from which tier up.
        rows: the rows that it shows.
    """

    tier: Tier
    rows: tuple[str, ...] = ()


class Publishing:
    """The items as plugins publish them.

    Args:
        database: where they are kept.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = Reached(database)
        self._clock = clock

    async def publish(
        self, kind: str, key: str, context: Mapping[str, Any], seen: Visibility
    ) -> WorkState:
        """Have an item done; arguments as of ``Works.publish``, without secrets.

        Args:
            kind: with its plugin.
            key: the item's.
            context: what an agent needs.
            seen: who may see it.

        Returns:
            The item's state: ``open``, but where the very same was published before.
        """
        written, now = checked_context(context), self._clock()
        digest, shown = digest_of(written), {"tier": str(seen.tier), "rows": list(seen.rows)}
        id, key = f"wk_{secrets.token_hex(10)}", checked_key(key)
        row: dict[str, Any] = {"id": id, "kind": kind, "key": key}
        row |= {"digest": digest, "state": "open", "context": from_json(written), **shown}
        row |= {"extra": 0, "refusals": 0, "published": now, "changed": now}
        mine = (items.c.kind == kind, items.c.key == key)
        async with self._database.begin() as connection:
            await exclusive(connection, LOCK)
            same = update(items).where(*mine, items.c.digest == digest).values(shown)
            state: WorkState | None = await connection.scalar(same.returning(items.c.state))
            if state is not None:
                return state
            await self._remove(connection, kind, key)
            await connection.execute(insert_into(connection, items).values(row))
        return "open"

    async def withdraw(self, kind: str, key: str) -> bool:
        """Have an item not done; whether there was one."""
        async with self._database.begin() as connection:
            await exclusive(connection, LOCK)
            return await self._remove(connection, kind, key)

    async def states(self, kind: str) -> Mapping[str, WorkState]:
        """The items of a kind, by key."""
        query = select(items.c.key, items.c.state).where(items.c.kind == kind)
        async with self._database.connect() as connection:
            return {row.key: row.state for row in await connection.execute(query)}

    async def _remove(self, connection: AsyncConnection, kind: str, key: str) -> bool:
        gone = delete(items).where(items.c.kind == kind, items.c.key == key)
        id = await connection.scalar(gone.returning(items.c.id))
        if id is None:
            return False
        waiting = update(answers).where(answers.c.item == id, answers.c.outcome == "waits")
        await connection.execute(waiting.values(outcome="void", answer=None))
        return True


class OwnedWorks:
    """The port ``Works`` of one plugin.

    Args:
        publishing: the items of all plugins, made when one is first needed.
        plugin: whose these are.
        scrub: takes secrets out of contexts.
    """

    def __init__(
        self, publishing: Callable[[], Publishing], plugin: str, scrub: ContentScrub
    ) -> None:
        self._publishing, self._plugin, self._scrub = publishing, plugin, scrub

    async def publish(
        self,
        kind: str,
        key: str,
        context: Mapping[str, Any],
        *,
        tier: Tier,
        rows: Sequence[str] = (),
    ) -> WorkState:
        """As ``Works.publish``."""
        plain = from_json(checked_context(context))
        cleaned, _ = self._scrub.value(plain)
        seen, name = Visibility(tier, tuple(rows)), f"{self._plugin}/{kind}"
        return await self._publishing().publish(name, key, cleaned, seen)

    async def withdraw(self, kind: str, key: str) -> bool:
        """As ``Works.withdraw``."""
        return await self._publishing().withdraw(f"{self._plugin}/{kind}", key)

    async def states(self, kind: str) -> Mapping[str, WorkState]:
        """As ``Works.states``."""
        return await self._publishing().states(f"{self._plugin}/{kind}")
