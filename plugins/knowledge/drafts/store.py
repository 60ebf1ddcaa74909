"""The drafts, as they are kept. Each step is one statement, so that any replica may take the next.

What leaves the portal is written down before it leaves: a process that is killed leaves a draft
that says what is still to be done, and doing it again does nothing twice.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database, Tier, ToolFailed
from gateway.toolkit.sql import exclusive, lock_number
from plugins.knowledge.drafts.draft import ENDED, UNDER_WAY, Draft, Seen
from plugins.knowledge.drafts.tables import drafts

LEASE = timedelta(minutes=3)
"""For how long one replica works on a draft alone; longer than a step takes."""
KEPT_PROPOSED, KEPT_ENDED = timedelta(days=60), timedelta(days=90)
"""After how long a draft is forgotten that nobody has said yes to, and one that has ended."""
MAX_LIVE = 50
"""Drafts that one person may have at a time."""

_COLUMNS = tuple(each.name for each in fields(Draft))


class DraftStore:
    """The drafts.

    Args:
        database: the plugin's.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self.clock = clock

    async def propose(self, page: Mapping[str, Any], own: Draft | None = None) -> Draft:
        """Keep what was shown to its person: as a draft of theirs, or their next words for one.

        Args:
            page: ``person``, ``source``, ``path``, ``document``, ``title``, ``tier`` and
                ``proposal``.
            own: the draft that it is for, where it is not found by its place.

        Raises:
            ToolFailed: ``too_many_drafts``.
        """
        shown = {name: page[name] for name in ("proposal",)}
        place = _slot(page["person"], page["source"], page["path"])
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("knowledge", f"drafts {page['person']}"))
            where = drafts.c.slot == place if own is None else drafts.c.id == own.id
            there = await _found(connection, where)
            if there:
                draft = there[0]
                if draft.state == "proposed":
                    shown |= {name: page[name] for name in ("title", "document", "tier")}
                    shown["changed"] = self.clock()
                await connection.execute(
                    sa.update(drafts).where(drafts.c.id == draft.id).values(shown)
                )
                return (await _found(connection, drafts.c.id == draft.id))[0]
            live = sa.select(sa.func.count()).where(
                drafts.c.person == page["person"], drafts.c.slot.is_not(None)
            )
            if (await connection.scalar(live) or 0) >= MAX_LIVE:
                text = f"You have {MAX_LIVE} drafts. Withdraw some with withdraw_draft first."
                raise ToolFailed("too_many_drafts", text)
            id, now = f"d_{secrets.token_hex(6)}", self.clock()
            row = {**_EMPTY, **page, "id": id, "slot": place, "created": now, "changed": now}
            await connection.execute(sa.insert(drafts), [row | {"tier": str(page["tier"])}])
            return (await _found(connection, drafts.c.id == id))[0]

    async def accept(
        self,
        draft: Draft,
        text: str,
        upon: str | None,
        signed: Mapping[str, str],
        page: Mapping[str, Any],
    ) -> Draft:
        """Write down that its person has said yes to a text, which is to go to the source.

        The same yes once more changes nothing.

        Raises:
            ToolFailed: ``changed_meanwhile``, the draft was changed or has ended since it was read.
        """
        if draft.text == text and draft.state in ("publishing", "open"):
            return draft
        values = {
            **{name: page[name] for name in ("title", "document", "proposal")},
            "tier": str(page["tier"]),
            "text": text,
            "version": draft.version + 1,
            "upon": upon,
            "signed": dict(signed),
            "state": "publishing",
            "problem": "",
            "changed": self.clock().replace(microsecond=0),
        }
        same = (drafts.c.version == draft.version, drafts.c.state == draft.state)
        if (made := await self._moved(draft.id, same, values)) is None:
            text = "Your draft was changed meanwhile, from elsewhere. Look at it"
            said = f"{text} with list_drafts."
            raise ToolFailed("changed_meanwhile", said, {"draft": draft.id}, f"{text} here.")
        return made

    async def withdraw(self, draft: Draft) -> Draft | None:
        """Write down that it is to be taken back; one that nobody else knows is gone at once."""
        live: Sequence[Any] = (drafts.c.state.not_in(ENDED),)
        if draft.state == "proposed":
            live = (drafts.c.state == "proposed",)
            ended = {"state": "withdrawn", "slot": None, "changed": self.clock()}
            return await self._moved(draft.id, live, ended)
        return await self._moved(draft.id, live, {"state": "withdrawing", "problem": ""})

    async def lease(self, draft: Draft) -> bool:
        """Take a draft to work on it at its source; False where another replica does."""
        now = self.clock()
        free = (
            sa.or_(drafts.c.lease.is_(None), drafts.c.lease < now),
            drafts.c.state == draft.state,
        )
        return await self._moved(draft.id, free, {"lease": now + LEASE}) is not None

    async def trying(self, draft: Draft, blob: str) -> Draft:
        """Write down the blob that is about to be pushed, before it is."""
        tried = [*(each for each in draft.tried if each != blob), blob][-20:]
        return await self._moved(draft.id, (), {"tried": tried}) or draft

    async def arrived(self, draft: Draft, seen: Seen) -> Draft:
        """Write down how it stands at its source after a step; what came meanwhile stays to do."""
        at_all = {
            "number": seen.number,
            "url": seen.url,
            "remarks": list(seen.remarks),
            "wants_changes": seen.wants_changes,
            "conflicts": seen.conflicts,
            "looked": self.clock(),
        }
        done = at_all | {"state": seen.state, "problem": "", "lease": None}
        if seen.state in ENDED:
            done |= {"slot": None, "changed": self.clock()}
        elif seen.blob is not None:
            done |= {"pushed": draft.version, "upon": seen.blob}
        same: Sequence[Any] = (
            drafts.c.state == draft.state,
            drafts.c.version == draft.version,
        )
        if seen.state in ENDED:  # whatever else was to be done: it has ended
            same = (drafts.c.state.not_in(ENDED),)
        if (made := await self._moved(draft.id, same, done)) is not None:
            return made
        left = {"lease": None} | {name: at_all[name] for name in ("number", "url")}
        return await self._moved(draft.id, (), left) or draft

    async def failed(self, draft: Draft, problem: str, *, again: bool) -> Draft:
        """Write down why a step did not work.

        Args:
            draft: the draft.
            problem: why, in words for its person.
            again: whether it is tried again; otherwise it takes their next yes.
        """
        values: dict[str, Any] = {"problem": problem[:2000], "lease": None}
        if not again:
            values["state"] = "open" if draft.number is not None or draft.pushed else "proposed"
        same = (drafts.c.state == draft.state, drafts.c.version == draft.version)
        return await self._moved(draft.id, same, values) or draft

    async def get(self, id: str) -> Draft | None:
        """A draft by its id."""
        if not (id.isascii() and id.isprintable()):
            return None
        found = await self._all(drafts.c.id == id)
        return found[0] if found else None

    async def at(self, person: str, source: str, path: str) -> Draft | None:
        """Somebody's own draft of a page, as long as it has not ended."""
        found = await self._all(drafts.c.slot == _slot(person, source, path))
        return found[0] if found else None

    async def of(self, person: str) -> Sequence[Draft]:
        """Somebody's own, the newest first."""
        return await self._all(drafts.c.person == person)

    async def shown(self, person: str) -> Sequence[Draft]:
        """Somebody's own, and what others have proposed to everybody; the newest first."""
        everybodys = drafts.c.state != "proposed"
        return await self._all(sa.or_(drafts.c.person == person, everybodys))

    async def under_way(self) -> Sequence[Draft]:
        """Those of which something is still to be done at their source."""
        return await self._all(drafts.c.state.in_(UNDER_WAY))

    async def open(self) -> Sequence[Draft]:
        """Those that wait for reviewers."""
        return await self._all(drafts.c.state == "open")

    async def people(self) -> Collection[str]:
        """Everyone who has drafts."""
        async with self._database.read() as connection:
            return set(await connection.scalars(sa.select(drafts.c.person).distinct()))

    async def forget(self, person: str | None = None) -> None:
        """Remove what is old, or all of one person's."""
        now = self.clock()
        old = sa.or_(
            sa.and_(drafts.c.state == "proposed", drafts.c.changed < now - KEPT_PROPOSED),
            sa.and_(drafts.c.state.in_(ENDED), drafts.c.changed < now - KEPT_ENDED),
        )
        async with self._database.begin() as connection:
            where = old if person is None else drafts.c.person == person
            await connection.execute(sa.delete(drafts).where(where))

    async def _all(self, where: Any) -> Sequence[Draft]:
        async with self._database.read() as connection:
            return await _found(connection, where)

    async def _moved(
        self, id: str, where: Sequence[Any], values: Mapping[str, Any]
    ) -> Draft | None:
        """Change a draft where it is as it should be; None where it is not."""
        changed = sa.update(drafts).where(drafts.c.id == id, *where).values(dict(values))
        try:
            async with self._database.begin() as connection:
                if not (await connection.execute(changed)).rowcount:
                    return None
                return (await _found(connection, drafts.c.id == id))[0]
        except IntegrityError:
            return None


_EMPTY: Mapping[str, Any] = {
    "state": "proposed",
    "version": 0,
    "pushed": 0,
    "tried": [],
    "signed": {},
    "url": "",
    "problem": "",
    "remarks": [],
    "wants_changes": False,
    "conflicts": False,
}


async def _found(connection: AsyncConnection, where: Any) -> list[Draft]:
    chosen = sa.select(*(drafts.c[name] for name in _COLUMNS)).where(where)
    rows = (await connection.execute(chosen.order_by(drafts.c.changed.desc(), drafts.c.id))).all()
    return [Draft(**(row._asdict() | {"tier": Tier(row.tier)})) for row in rows]


def _slot(person: str, source: str, path: str) -> str:
    """What is one for each page that a person drafts."""
    return hashlib.sha256("\0".join((person, source, path)).encode()).hexdigest()
