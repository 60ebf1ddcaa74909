"""Which work there is for a caller: by tiers, by rows, and by the plugin's own word."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from auth import Caller, Tier
from gateway.catalog.catalog import Catalog
from gateway.contract.work import Work, WorkSource

if TYPE_CHECKING:
    from gateway.work.desk import Desk, Kind
    from gateway.work.records import WorkItem

KIND_ROW = "work"
"""The kind of rows under which lines of ``tiers.yaml`` name kinds of work."""


class WorkAccess:
    """What callers may do and see.

    Args:
        catalog: says what the lines of ``tiers.yaml`` ask for.
        works: the kinds of work of the plugins that are open, by full name.
        desk: hands items out; made when the first caller asks.
    """

    def __init__(
        self, catalog: Catalog, works: Mapping[str, Work], desk: Callable[[], Desk]
    ) -> None:
        self._catalog, self._works, self._desk = catalog, works, desk

    def work(self, kind: str) -> Work:
        """What is declared of a kind that is open."""
        return self._works[kind]

    def kinds_for(self, caller: Caller) -> Mapping[str, Work]:
        """The kinds of work that a caller may do."""
        return {
            name: work
            for name, work in self._works.items()
            if caller.tier.allows(self._tier(name, work))
        }

    async def open_to(self, caller: Caller, works: Mapping[str, Work]) -> AsyncGenerator[WorkItem]:
        """The items that a caller could take and may see, the oldest first."""
        kinds = [_kind(name, work) for name, work in works.items()]
        found = self._desk().open_to(caller.person or "", caller.tier, kinds)
        async with aclosing(found) as items:
            async for item in items:
                if await self._may_see(item, caller):
                    yield item

    async def take(self, item: WorkItem, person: str) -> datetime | None:
        """Take an item for somebody; None where it is no longer there."""
        return await self._desk().take(item.id, person, _kind(item.kind, self._works[item.kind]))

    async def item(self, id: str, caller: Caller) -> WorkItem | None:
        """The item of that id, if this caller may see it."""
        found = await self._desk().get(id)
        there = found is not None and found.kind in self.kinds_for(caller)
        return found if found and there and await self._may_see(found, caller) else None

    async def bring(self, item: WorkItem, answer: Mapping[str, Any], source: WorkSource) -> int:
        """Keep an answer; as of ``Desk.bring``."""
        kind = _kind(item.kind, self._works[item.kind])
        return await self._desk().bring(item, kind, answer, source)

    def _tier(self, name: str, work: Work) -> Tier:
        plugin, _, kind = name.partition("/")
        return self._catalog.row_tier(plugin, f"{KIND_ROW}:{kind}", work.tier)

    async def _may_see(self, item: WorkItem, caller: Caller) -> bool:
        tiers = [item.tier]
        tiers += [self._catalog.row_tier(item.plugin, row, item.tier) for row in item.rows]
        if not all(map(caller.tier.allows, tiers)):
            return False
        asked = self._works[item.kind].may_read
        return asked is None or await asked(item.key, caller)


def _kind(name: str, work: Work) -> Kind:
    from gateway.work.desk import Kind

    return Kind(name, work.opinions, timedelta(seconds=work.lease_seconds))
