"""Has plugins erase the data of people whose accounts were deleted.

Nothing is queued: what is left to do is whoever is among the deleted and is still named by a
plugin. It is asked again and again, so a portal that died, a plugin that was off or failed, and a
call that wrote a moment too late are all made up for. Erasing twice is no error, so replicas need
not agree who does it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

from gateway.contract.offers import Offer
from gateway.contract.personal_data import PersonalData
from gateway.contract.services import Database
from gateway.identity.stores import forgotten_people
from gateway.observability.audit import AuditLog
from gateway.observability.audit_record import AuditRecord
from gateway.observability.logs import get_logger
from gateway.toolkit.background import background

POLL_SECONDS = 60.0
"""Seconds between two looks for people whom another process or the command line deleted."""
RUN_INTERVAL_SECONDS = 3600.0
"""The longest time in seconds between two runs, also if nobody was deleted."""
PLUGIN_TIMEOUT_SECONDS = 300.0
"""Seconds that a plugin has to name people, or to erase one."""

log = get_logger(__name__)


class Erasures:
    """Erases, for as long as the portal runs.

    Args:
        database: where the deleted are noted.
        offers: what each open plugin offers, by its name.
        audit: where each erasure is recorded, by ids alone.
    """

    def __init__(self, database: Database, offers: Mapping[str, Offer], audit: AuditLog) -> None:
        self._database, self._offers, self._audit = database, offers, audit
        self._wake = asyncio.Event()
        self._failing: dict[str, str] = {}
        self._reported_failures: set[tuple[str, str]] = set()

    def soon(self) -> None:
        """Look at once: somebody was deleted."""
        self._wake.set()

    def notices(self) -> Iterator[str]:
        """Notices for admins about erasures that fail."""
        for plugin, reason in self._failing.items():
            yield (
                f"What the plugin {plugin} keeps of people who deleted their accounts could not be "
                f"erased ({reason}). It is tried again; the log's erasure_failed says more."
            )

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Erase in the background while the block runs, in which the plugins are open."""
        async with background(self._again_and_again()):
            yield

    async def _again_and_again(self) -> None:
        known, due, pause = frozenset[str](), 0.0, POLL_SECONDS
        while True:
            try:
                gone = await forgotten_people(self._database)
                if gone and (gone != known or time.monotonic() >= due):
                    known, well = gone, await self.sweep(gone)
                    due = time.monotonic() + (RUN_INTERVAL_SECONDS if well else pause)
                    pause = POLL_SECONDS if well else min(2 * pause, RUN_INTERVAL_SECONDS)
            except Exception as error:
                log.warning("erasures_unread", reason=type(error).__name__)
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._wake.wait()
            self._wake.clear()

    async def sweep(self, gone: frozenset[str]) -> bool:
        """Erase whoever is among the deleted and is named by an open plugin.

        Args:
            gone: the ids of everyone whose account was deleted.

        Returns:
            Whether nothing is left to do.
        """
        offers = [(name, each.personal) for name, each in self._offers.items() if each.personal]
        return all(await asyncio.gather(*(self._of(name, data, gone) for name, data in offers)))

    async def _of(self, plugin: str, data: PersonalData, gone: frozenset[str]) -> bool:
        """One plugin's share; the others do not wait for what it cannot do."""
        reasons = list[str]()
        try:
            async with asyncio.timeout(PLUGIN_TIMEOUT_SECONDS):
                left = gone & set(await data.people())
        except Exception as error:
            left = frozenset()
            reasons.append(self._failed(plugin, "", error))
        reasons += [await self._erased(plugin, data, person) for person in sorted(left)]
        failures = list(filter(None, reasons))
        self._failing.pop(plugin, None)
        if failures:
            self._failing[plugin] = failures[0]
        return not failures

    async def _erased(self, plugin: str, data: PersonalData, person: str) -> str:
        """Erase one person; the reason why that failed, or ""."""
        begun = time.monotonic()
        try:
            async with asyncio.timeout(PLUGIN_TIMEOUT_SECONDS):
                await data.erase(person)
        except Exception as error:
            if (plugin, person) not in self._reported_failures:
                self._record(plugin, person, "failed", begun)
            return self._failed(plugin, person, error)
        self._reported_failures.discard((plugin, person))
        self._record(plugin, person, "ok", begun)
        log.info("person_erased", plugin=plugin, person=person)
        return ""

    def _failed(self, plugin: str, person: str, error: Exception) -> str:
        """Log what failed, once for each person until it succeeds, and say what it was."""
        if (plugin, person) not in self._reported_failures:
            self._reported_failures.add((plugin, person))
            log.error("erasure_failed", plugin=plugin, person=person, exc_info=error)
        return type(error).__name__

    def _record(self, plugin: str, person: str, outcome: str, begun: float) -> None:
        self._audit.write(
            AuditRecord(
                at=datetime.now(UTC),
                request_id=secrets.token_hex(8),
                person=person,
                tier="-",
                item=plugin,
                kind="erasure",
                surface="portal",
                outcome=outcome,
                milliseconds=(time.monotonic() - begun) * 1000,
                bytes_out=0,
            )
        )
