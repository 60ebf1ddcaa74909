"""Reads new events once, for all followers in this process.

The newest events are cached, within a bound; each follower has a position in the cache and no queue
of its own. A follower too slow for the cache reads from the database until it catches up. Without
followers nothing is read.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from typing import TYPE_CHECKING

from gateway.contract import Cache
from gateway.toolkit.reasons import log_fields
from plugins.knowledge.memory.store.writes import Event
from plugins.knowledge.memory.streams.event_log import EventLog, EventPage
from plugins.knowledge.memory.streams.messages import EntryState, LoggedEvent

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

CHANNEL = "memory-events"
POLL_INTERVAL_S = 1.0
"""Seconds between two looks for new events where no wake-up arrives."""
DEBOUNCE_INTERVAL_S = 0.02
"""Seconds between two reads, so that many writes are read together."""
EVENT_CACHE_SIZE = 1024
"""Events that are kept here."""
EVENT_CACHE_CHARACTERS = 4 * 1024 * 1024
"""Characters of their bodies."""
PAGE_SIZE = 100
"""Events that are read from the database at once."""
MAX_SKIPPED_EVENTS = 500
"""Events a follower may not see, after which it is sent its position alone."""
_RETRY_INTERVAL_S = 5.0
"""Seconds before the cache is listened to again, where that broke off."""

Admits = Callable[[LoggedEvent, EntryState | None], bool]
"""Whether a follower is told of an event, whose entry is like this now."""


class Hub:
    """What this process knows of the newest events.

    Args:
        events: all events that are kept.
        cache: carries word of new ones between replicas.
        log: the plugin's.

    Attributes:
        events: as given.
    """

    def __init__(self, events: EventLog, cache: Cache, log: FilteringBoundLogger) -> None:
        self.events = events
        self._cache, self._log = cache, log
        self._kept: list[LoggedEvent] = []
        self._states: dict[str, EntryState | None] = {}
        self._named: Counter[str] = Counter()
        self._characters = 0
        self._floor = self._seen = 0
        self._woken, self._news = asyncio.Event(), asyncio.Event()
        self._joining = asyncio.Lock()
        self._followers = 0
        self._reading: list[asyncio.Task[None]] = []
        self._sending: asyncio.Task[None] | None = None
        self._silent = self._unsent = False

    def tell(self, events: Sequence[Event]) -> None:
        """Hear that something was written, here; returns at once. What it was is read."""
        if not events:
            return
        self._woken.set()
        self._unsent = True
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._publish(), context=Context())

    async def close(self) -> None:
        """Read no more."""
        ending = [*self._reading, *([self._sending] if self._sending else [])]
        self._reading = []
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    async def follow(
        self, after: int, admits: Admits
    ) -> AsyncGenerator[tuple[int, LoggedEvent | None], None]:
        """Events as they happen, without end.

        Args:
            after: the number of the last that is known.
            admits: says which are told; it is asked anew at the moment of telling.

        Yields:
            An event with its number; or, after many that are not told, a number alone.
        """
        async with self._joined():
            place = passed = after
            while True:
                news = self._news
                place, kept, page = await self._page(place)
                for told in page.told:
                    if kept and told.number <= self._floor:
                        break  # it left while the follower was busy: nothing is known of it here
                    place = told.number
                    state = self._states.get(told.entry, page.states.get(told.entry))
                    if admits(told, state):
                        passed = place
                        yield place, told
                if place - passed >= MAX_SKIPPED_EVENTS:
                    passed = place
                    yield place, None
                if place >= self._seen:
                    await news.wait()

    async def _page(self, place: int) -> tuple[int, bool, EventPage]:
        """Some events after a number: that number, whether they are kept here, and the events."""
        floor = self._floor
        if place >= floor:
            at = bisect_right(self._kept, place, key=lambda told: told.number)
            return place, True, EventPage(self._kept[at : at + PAGE_SIZE])
        page = await self.events.after(place, PAGE_SIZE, floor)
        # Where there are none, upkeep has removed them.
        return place if page.told else floor, False, page

    @asynccontextmanager
    async def _joined(self) -> AsyncGenerator[None]:
        async with self._joining:
            if not self._reading:
                self._forget()
                self._floor = self._seen = await self.events.newest()
                # Their lines in the log are not those of whoever happens to follow first.
                self._reading = [
                    asyncio.create_task(each, context=Context())
                    for each in (self._read_on(), self._listen())
                ]
            self._followers += 1
        try:
            yield
        finally:
            self._followers -= 1
            if not self._followers:
                for task in self._reading:
                    task.cancel()
                self._reading = []
                self._forget()

    def _forget(self) -> None:
        self._kept, self._characters = [], 0
        self._states.clear()
        self._named.clear()

    async def _read_on(self) -> None:
        while True:
            self._woken.clear()
            try:
                while (page := await self.events.after(self._seen, PAGE_SIZE)).told:
                    self._take(page)
                self._silent = False
            except Exception as error:
                if not self._silent:
                    self._log.warning("memory events unread", **log_fields(error))
                self._silent = True
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_INTERVAL_S):
                    await self._woken.wait()
            await asyncio.sleep(DEBOUNCE_INTERVAL_S)

    def _take(self, page: EventPage) -> None:
        for told in page.told:
            self._kept.append(told)
            self._characters += told.size
            self._named[told.entry] += 1
            self._states[told.entry] = page.states.get(told.entry)
        self._seen = page.told[-1].number
        over = 0
        while (
            len(self._kept) - over > EVENT_CACHE_SIZE or self._characters > EVENT_CACHE_CHARACTERS
        ):
            self._leave(self._kept[over])
            over += 1
        if over:
            self._floor = self._kept[over - 1].number
            del self._kept[:over]
        self._news.set()
        self._news = asyncio.Event()

    def _leave(self, told: LoggedEvent) -> None:
        self._characters -= told.size
        self._named[told.entry] -= 1
        if not self._named[told.entry]:
            del self._named[told.entry], self._states[told.entry]

    async def _listen(self) -> None:
        """Hear of what other replicas wrote; without the cache, looking now and then will do."""
        while True:
            try:
                async with self._cache.listen(CHANNEL) as messages:
                    async for _ in messages:
                        self._woken.set()
            except Exception as error:
                self._log.warning("memory events unheard", reason=str(error))
            await asyncio.sleep(_RETRY_INTERVAL_S)

    async def _publish(self) -> None:
        while self._unsent:
            self._unsent = False
            with suppress(Exception):  # a follower elsewhere looks by itself, a little later
                await self._cache.publish(CHANNEL, b"")
