"""Which tools every client is shown: those the admin pins, and those that are used most.

What is used is what the audit log counts over whole days that have passed (UTC), so that every
replica says the same all day long, and what a client keeps of a list stays good.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from gateway.catalog.items import Item
from gateway.config.portal import Portal
from gateway.config.tools import Favourites as Settings
from gateway.contract.suggestions import unknown
from gateway.discovery.cost import Costs
from gateway.errors import Problem
from gateway.observability.logs import get_logger

if TYPE_CHECKING:
    from gateway.contract import Database

RETRY_SECONDS = 60.0
"""Seconds after which the audit log is asked again, where it could not be read."""
_TIMEOUT_SECONDS = 5.0
_READ_ITEMS = 1000
"""Items of the audit log that are looked at: beside tools it names prompts and resources."""

log = get_logger(__name__)


class Favourites:
    """The tools that come first.

    Args:
        settings: what ``portal.yaml`` says of them.
        database: where the audit log is.
        today: the day of today, in UTC; replaced in tests.

    Attributes:
        version: grows where they may have changed.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self.version = 0
        self._settings = settings
        self._database = database
        self._today = today
        self._used: Sequence[str] = ()
        self._day: date | None = None
        self._failed_at = float("-inf")
        self._reading = asyncio.Lock()

    async def refresh(self) -> None:
        """Read what was used, once a day; what cannot be read now is what it was."""
        if not self._is_due():
            return
        async with self._reading:
            if not self._is_due():
                return
            day = self._today()
            try:
                async with asyncio.timeout(_TIMEOUT_SECONDS):
                    used = await self._read(day)
            except Exception as error:
                self._failed_at = time.monotonic()
                log.warning("favourites_not_read", reason=type(error).__name__)
                return
            self._day = day
            if used != self._used:
                self._used = used
                self.version += 1

    def among(self, items: Sequence[Item], costs: Costs, budget: int) -> list[Item]:
        """The favourites among what a caller may use.

        Args:
            items: what the caller may use.
            costs: says what each costs.
            budget: tokens for all of them; the pinned ones are there whatever they cost.
        """
        names, keys = {item.name: item for item in items}, {item.key: item for item in items}
        chosen = {name: names[name] for name in self._settings.pinned if name in names}
        left, more = budget - costs.total(chosen.values()), 0
        for key in self._used:
            item = keys.get(key)
            if item is None or item.name in chosen or costs.of(item) > left:
                continue
            if more == self._settings.used:
                break
            chosen[item.name] = item
            left, more = left - costs.of(item), more + 1
        return list(chosen.values())

    def _is_due(self) -> bool:
        if self._settings.used == 0 or self._day == self._today():
            return False
        return time.monotonic() - self._failed_at > RETRY_SECONDS

    async def _read(self, day: date) -> Sequence[str]:
        from gateway.observability.audit_reader import AuditReader

        until = datetime(day.year, day.month, day.day, tzinfo=UTC)
        since = until - timedelta(days=self._settings.days)
        reader = AuditReader(self._database)
        totals = await reader.totals(
            "item", {"since": since, "until": until, "outcome": "ok"}, _READ_ITEMS
        )
        return [total.name for total in totals if total.name]


def unknown_favourites(portal: Portal, tools: set[str]) -> list[Problem]:
    """The lines of ``portal.yaml`` that pin tools which the portal does not have."""
    return [
        portal.source.problem(
            ("tools", "favourites", "pinned"), f"{name}: {unknown(name, tools, 'tool')}"
        )
        for name in portal.config.tools.favourites.pinned
        if name not in tools
    ]
