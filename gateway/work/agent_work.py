"""Work for agents, as the portal holds it together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from gateway.catalog.catalog import Catalog
from gateway.catalog.items import PORTAL
from gateway.catalog.schemas import BadDeclaration, check_schema, schema_of
from gateway.contract.exchange import Exchange
from gateway.contract.jobs import Jobs
from gateway.contract.offers import Job, Offer, Tool
from gateway.contract.personal_data import PersonalData, PersonalFile
from gateway.contract.rows import RowKind
from gateway.contract.work import Work
from gateway.observability.logs import get_logger
from gateway.toolkit.background import background, every
from gateway.work.access import KIND_ROW, WorkAccess

if TYPE_CHECKING:
    from gateway.contract import ContentScrub, Database
    from gateway.work.desk import Desk
    from gateway.work.publishing import OwnedWorks, Publishing
    from gateway.work.records import WorkItem
    from gateway.work.settling import Settling
    from gateway.work.upkeep import WorkUpkeep

SETTLE_JOB = "settle_work"
"""The job that each plugin with work has, beside those that it declares."""
UPKEEP_INTERVAL_SECONDS, FIRST_UPKEEP_SECONDS = 60.0, 5.0
"""Seconds between two looks for what has lost its job, and before the first."""
FORGET_INTERVAL_SECONDS = 3600.0
"""Seconds between two looks for what is too old."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")

log = get_logger(__name__)


class AgentWork:
    """The parts of it; what needs the database is loaded when there is work.

    Args:
        catalog: takes in the two tools once a plugin has work to offer.
        database: where items are kept.
        jobs: gives the jobs of a plugin.
        exchange: gives the call that is running.
    """

    def __init__(
        self,
        catalog: Catalog,
        database: Database,
        jobs: Callable[[str], Jobs],
        exchange: Callable[[], Exchange],
    ) -> None:
        self._catalog, self._database = catalog, database
        self._jobs, self._exchange = jobs, exchange
        self._works: dict[str, Work] = {}

    @property
    def kinds(self) -> Mapping[str, Work]:
        """The kinds of work of the plugins that are open, by full name; mostly there are none."""
        return self._works

    @cached_property
    def upkeep(self) -> WorkUpkeep:
        """What admins see and do."""
        from gateway.work.upkeep import WorkUpkeep

        return WorkUpkeep(self._database)

    @cached_property
    def offers(self) -> Mapping[str, Offer]:
        """What the portal itself keeps of people here, beside the offers of plugins."""
        data = PersonalData(self._people, self._export, self._erase)
        return {PORTAL: Offer(personal=data)}

    async def waiting(self) -> Mapping[str, int]:
        """How many items there are in each state, of the kinds that are open."""
        found: Counter[str] = Counter()
        if self._works:
            for each in await self.upkeep.counts():
                found[each.state] += each.number if each.kind in self._works else 0
        return found

    # A plugin opens.

    def for_plugin(self, plugin: str, scrub: ContentScrub) -> OwnedWorks:
        """The port ``Works`` of a plugin."""
        from gateway.work.publishing import OwnedWorks

        return OwnedWorks(lambda: self._publishing, plugin, scrub)

    def opened(self, plugin: str, offer: Offer) -> Offer:
        """Take in the kinds of work of a plugin, and have the tools there that agents use.

        Returns:
            The offer, with its kinds of work as rows that lines of ``tiers.yaml`` may name, and the
            job that settles what is answered.

        Raises:
            ValueError: a declaration cannot work.
        """
        if not offer.work:
            return offer
        declared: dict[str, Work] = {}
        for work in offer.work:
            name = f"{plugin}/{work.name}"
            if name in declared:
                raise ValueError(f"The plugin {plugin} declares the work {work.name} twice.")
            _check(name, work)
            declared[name] = work
        is_first = not self._works
        self._works |= declared
        if is_first:
            self._catalog.add(PORTAL, Offer(tools=self._tools))
        names = [work.name for work in offer.work]
        rows = RowKind(KIND_ROW, "a kind of work for agents, by its name", lambda: names)
        job = Job(SETTLE_JOB, self._settling.run)
        return replace(offer, rows=(*offer.rows, rows), jobs=(*offer.jobs, job))

    @cached_property
    def _tools(self) -> list[Tool]:
        from gateway.work.tools import WorkTools

        access = WorkAccess(self._catalog, self._works, lambda: self._desk)
        return list(WorkTools(access, self._settle, self._exchange).tools())

    # Items.

    @cached_property
    def _publishing(self) -> Publishing:
        from gateway.work.publishing import Publishing

        return Publishing(self._database)

    @cached_property
    def _desk(self) -> Desk:
        from gateway.work.desk import Desk

        return Desk(self._database)

    @cached_property
    def _settling(self) -> Settling:
        from gateway.work.settling import Settling

        return Settling(self._database, self._works.get)

    async def _settle(self, item: WorkItem, again: str = "") -> None:
        """Queue the job of an item; where that fails, the next look finds the item."""
        try:
            jobs = self._jobs(item.plugin)
            key = f"{item.id}-{item.refusals}-{item.extra}{again}"
            await jobs.enqueue(SETTLE_JOB, {"item": item.id}, key=key)
        except Exception as error:
            log.warning("work_not_queued", kind=item.kind, reason=type(error).__name__)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Look after items in the background for as long as the block lasts."""
        look = every(UPKEEP_INTERVAL_SECONDS, self._look, _failed, first_s=FIRST_UPKEEP_SECONDS)
        forget = every(FORGET_INTERVAL_SECONDS, self._forget, _failed)
        async with background(look, forget):
            yield

    async def _look(self) -> None:
        """Queue what was answered and has no job, as a process died between the two."""
        if not self._works:
            return
        minute = timedelta(seconds=FIRST_UPKEEP_SECONDS)
        for item in await self.upkeep.left(minute):
            if item.kind in self._works:
                now = self.upkeep.minute()
                await self._settle(item, again=f"-{now}")

    async def _forget(self) -> None:
        if self._works:
            await self.upkeep.forget()

    # People.

    async def _people(self) -> Collection[str]:
        return await self.upkeep.people()

    async def _export(self, person: str) -> AsyncIterator[PersonalFile]:
        async for file in self.upkeep.export(person):
            yield file

    async def _erase(self, person: str) -> None:
        await self.upkeep.erase(person)


def _check(name: str, work: Work) -> None:
    """Refuse a kind of work that cannot work.

    Raises:
        ValueError: why.
    """
    if not _NAME.fullmatch(work.name):
        raise ValueError(f"The name of the work {name!r} does not match [a-z][a-z0-9_]{{0,30}}.")
    if work.opinions < 1 or work.lease_seconds <= 0:
        raise ValueError(f"The work {name} needs at least one opinion, and time to give it.")
    try:
        check_schema(schema_of(work.schema, None) or {}, "answer schema")
    except BadDeclaration as bad:
        raise ValueError(f"The work {name} cannot be offered: {bad}.") from None


def _failed(error: Exception) -> None:
    log.warning("work_not_kept_up", reason=str(error))
