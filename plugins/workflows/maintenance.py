"""Background work: imports the starter playbook, embeds new items, deletes unused files, and what
has been in a bin for long enough, and forgets links that ended long ago."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

from sqlalchemy import ColumnElement, ScalarSelect, func, select

from gateway.contract import Health, Host, is_outage
from gateway.toolkit.background import background
from plugins.workflows.model import AutoPrompt, Complexity, Outcome, Visibility
from plugins.workflows.notifications import Notifications
from plugins.workflows.store import sequence
from plugins.workflows.store.tables import folders, mini_prompts, runs, skills, workflows

MAINTENANCE_INTERVAL_S = 60.0
"""How often it looks for what has no vector, as the model was busy, and for what others wrote."""

SWEEP_EVERY_ROUNDS = 1440
"""How many times of these it also looks for bytes that no card uses, and into the bins: at the
start, then daily."""

TakeIn = Callable[[], Awaitable[bool]]
"""``await take_in()``: takes in the starter workflows; whether anything changed."""


@dataclass(eq=False, repr=False)
class Maintenance:
    """Keeps an open playbook up to date, and reports its health.

    Attributes:
        host: the plugin's services.
        take_in: takes in what Porch brings.
        embed: gives vectors to what has none by the model in use; how many it did.
        notifications: is told of new workflows.
        sweep: deletes what deleted cards have left in the object store; how many files.
        purge: erases what has been in a bin for long enough; how many workflows.
        forget: forgets the links that ended long ago; how many.
    """

    host: Host
    take_in: TakeIn
    embed: Callable[[], Awaitable[int]]
    notifications: Notifications
    sweep: Callable[[], Awaitable[int]]
    purge: Callable[[], Awaitable[int]]
    forget: Callable[[], Awaitable[int]]
    _failed: dict[str, str] = field(default_factory=dict, init=False)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """What Porch brings is there when the block begins; vectors too, if the host waits."""
        if await self._tried("starter", self.take_in):
            self.notifications.lists_changed()
        if self.host.wait_ready:
            await self._embedded()
            yield
            return
        async with background(self._keep_up()):
            yield

    async def _keep_up(self) -> None:
        seen = await self._tried("changes", self._newest)
        for number in count():
            if number % SWEEP_EVERY_ROUNDS == 0:
                await self._tried("files", self.sweep)
                await self._tried("bin", self.purge)
                await self._tried("links", self.forget)
            await self._embedded()
            await asyncio.sleep(MAINTENANCE_INTERVAL_S)
            newest = await self._tried("changes", self._newest)
            if newest != seen:
                # Maybe by an import, or another replica, of which clients have not heard.
                self.notifications.lists_changed()
            seen = newest

    async def _newest(self) -> int:
        async with self.host.database.engine.connect() as connection:
            return await sequence.latest_value(connection)

    async def _embedded(self) -> None:
        if done := await self._tried("search", self.embed):
            self.host.log.info("workflows_embedded", items=done)

    async def _tried(self, what: str, work: Callable[[], Awaitable[int]]) -> int:
        """The result of a task, or 0 where it fails, which health then reports."""
        try:
            done = await work()
            self._failed.pop(what, None)
            return done
        except Exception as error:
            self._failed[what] = str(error) or type(error).__name__
            if is_outage(error):  # it says all there is to know, and the next round may do
                reason = self._failed[what]
                self.host.log.warning("workflows_upkeep_waits", work=what, reason=reason)
            else:
                self.host.log.error("workflows_upkeep_failed", work=what, exc_info=error)
            return 0

    async def health(self) -> Health:
        """``degraded`` where something failed."""
        counts = {name: _count(which) for name, which in (_COUNTED | _UNKNOWN_VALUES).items()}
        query = select(*(count.label(name) for name, count in counts.items()))
        async with self.host.database.engine.connect() as connection:
            found = (await connection.execute(query)).one()._mapping
        facts = {name: found[name] for name in _COUNTED}
        if "starter" in self._failed:
            reason = f"The workflows that Porch brings are not all there: {self._failed['starter']}"
            return Health("degraded", reason, facts)
        if "bin" in self._failed:
            reason = f"What was deleted long ago is not erased: {self._failed['bin']}"
            return Health("degraded", reason, facts)
        if "links" in self._failed:
            reason = f"Links that ended long ago are not forgotten: {self._failed['links']}"
            return Health("degraded", reason, facts)
        if "search" in self._failed:
            reason = f"Some items are found by their words alone: {self._failed['search']}"
            return Health("degraded", reason, facts)
        if unknown := [f"{found[name]} of {name}" for name in _UNKNOWN_VALUES if found[name]]:
            reason = f"Rows hold values that this version does not know: {', '.join(unknown)}."
            return Health("degraded", reason, facts)
        return Health("ok", "", facts)


def _count(which: ColumnElement[bool]) -> ScalarSelect[int]:
    return select(func.count()).where(which).scalar_subquery()


_COUNTED = {
    "workflows": workflows.c.deleted.is_(None),
    "skills": skills.c.deleted.is_(None),
    "prompts": mini_prompts.c.deleted.is_(None),
    "openRuns": runs.c.finished.is_(None),
}
_ENUM_COLUMNS = {
    workflows.c.visibility: Visibility,
    workflows.c.complexity: Complexity,
    skills.c.visibility: Visibility,
    mini_prompts.c.visibility: Visibility,
    mini_prompts.c.automatic: AutoPrompt,
    folders.c.visibility: Visibility,
    runs.c.outcome: Outcome,
}
_UNKNOWN_VALUES = {
    str(column): column.not_in(list(words)) for column, words in _ENUM_COLUMNS.items()
}
"""Values that only a newer version of Porch, or a manual edit, can have written."""
