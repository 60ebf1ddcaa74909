"""Links that end, each to one workflow: who made them, for which tier, and until when.

The secret in a link is random and shown once; its SHA-256 digest is what is kept.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, and_, delete, func, insert, or_, select, update

from gateway.contract import Database, Tier
from gateway.toolkit.sql import exclusive, lock_number
from plugins.workflows import errors, limits
from plugins.workflows.ids import new_id
from plugins.workflows.store.tables import links, workflows

KEPT_AFTER_THE_END = timedelta(days=90)
"""How long a link that has ended says so, and who made it."""
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Link:
    """A link.

    Attributes:
        id: names it for its maker; it opens nothing.
        workflow: the id of the workflow that it leads to.
        workflow_name: what that is called now.
        is_kept: whether the workflow is still its maker's, and not deleted.
        person: who made it.
        tier: whose sight it never goes beyond.
        made, expires: when.
        ended: when its maker ended it, or None.
    """

    id: str
    workflow: str
    workflow_name: str
    is_kept: bool
    person: str
    tier: Tier
    made: datetime
    expires: datetime
    ended: datetime | None

    def end(self, now: datetime) -> datetime | None:
        """When it ended; None while it is open."""
        ends = self.expires if self.ended is None else min(self.ended, self.expires)
        return ends if ends <= now else None


class Links:
    """The links of all people; each is listed and ended for its maker alone.

    Args:
        database: the plugin's database.
        clock: gives the time, with its zone.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database, self._clock = database, clock

    async def make(
        self, person: str, workflow: str, tier: Tier, lifetime: timedelta
    ) -> tuple[Link, str]:
        """Make a link.

        Args:
            person: who makes it.
            workflow: the id of a workflow of theirs.
            tier: whose sight it never goes beyond.
            lifetime: how long it is good for.

        Returns:
            The link, and the secret that opens it, which is kept nowhere.

        Raises:
            ToolFailed: they have ``limits.MAX_LINKS`` open already.
        """
        secret, id, now = secrets.token_urlsafe(_SECRET_BYTES), new_id(), self._clock()
        row = {
            "id": id,
            "digest": _digest(secret),
            "workflow": workflow,
            "person": person,
            "tier": str(tier),
            "made": now,
            "expires": now + lifetime,
        }
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("playbook", f"links of {person}"))
            open_now = and_(links.c.person == person, links.c.ended.is_(None))
            count = select(func.count()).where(open_now, links.c.expires > now)
            if (await connection.scalar(count) or 0) >= limits.MAX_LINKS:
                raise errors.bad_input(
                    f"You have {limits.MAX_LINKS} open links, the most there may be. End one that "
                    "nobody needs any more (end_workflow_link)."
                )
            await connection.execute(insert(links).values(row))
            found = (await connection.execute(_every().where(links.c.id == id))).one()
        return _link(found), secret

    async def listed(self, person: str, workflow: str | None, limit: int) -> Sequence[Link]:
        """A person's links, open or ended, the latest first.

        Args:
            person: whose.
            workflow: only those to this workflow, or None for all.
            limit: how many at most.
        """
        query = _every().where(links.c.person == person)
        if workflow is not None:
            query = query.where(links.c.workflow == workflow)
        query = query.order_by(links.c.made.desc(), links.c.id).limit(limit)
        async with self._database.read() as connection:
            return [_link(row) for row in await connection.execute(query)]

    async def end(self, person: str, id: str) -> Link:
        """End a link of a person's; one that has ended stays as it is.

        Raises:
            ToolFailed: they have made no such link.
        """
        mine = and_(links.c.id == id, links.c.person == person)
        async with self._database.begin() as connection:
            ended = update(links).where(mine, links.c.ended.is_(None))
            await connection.execute(ended.values(ended=self._clock()))
            row = (await connection.execute(_every().where(mine))).one_or_none()
        if row is None:
            raise errors.not_found("Link")
        return _link(row)

    async def of_secret(self, secret: str) -> Link | None:
        """The link that a secret opens, also once it has ended; None where there is none."""
        query = _every().where(links.c.digest == _digest(secret))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else _link(row)

    async def sweep(self) -> int:
        """Forget the links that ended long ago; how many."""
        long_ago = self._clock() - KEPT_AFTER_THE_END
        old = or_(links.c.expires < long_ago, links.c.ended < long_ago)
        async with self._database.begin() as connection:
            return (await connection.execute(delete(links).where(old))).rowcount

    async def erase(self, person: str) -> None:
        """Take all of a person's links away: none opens anything any more."""
        async with self._database.begin() as connection:
            await connection.execute(delete(links).where(links.c.person == person))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _every() -> Select[Any]:
    kept = and_(workflows.c.deleted.is_(None), workflows.c.owner == links.c.person)
    columns = (each for each in links.c if each.name != "digest")
    return select(
        *columns, workflows.c.name.label("workflow_name"), kept.label("is_kept")
    ).join_from(links, workflows, workflows.c.id == links.c.workflow)


def _link(row: Row[Any]) -> Link:
    values = {**row._mapping, "tier": Tier(row.tier), "is_kept": bool(row.is_kept)}
    return Link(**values)
