"""Who holds the event loop: while one piece of code computes or blocks there, everybody waits.

A thread looks whether the loop still turns. Where it does not, the thread sees in the loop's own
stack which plugin's code runs, and at which line. Code that also keeps the interpreter's lock, such
as a long call into C, lets the thread look only afterwards; then the line may be a later one.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from types import FrameType
from typing import NamedTuple

from gateway.observability.logs import get_logger
from gateway.observability.loop_lag import INTERVAL_SECONDS, LoopLag
from gateway.observability.metrics import Metrics

HELD_SECONDS = 0.2
"""Seconds for which the loop may be held before that is logged and counted."""
NOTICED_SECONDS = 1.0
"""Seconds for which a plugin may hold it before an admin is told."""
STARTING_SECONDS = 60.0
"""Seconds from the start in which plugins import and open: that is counted, and told to nobody."""
PORTAL = "portal"
"""Who holds the loop where it is no plugin."""
_LOOK_SECONDS = 0.05
_REMEMBERED_SECONDS = 600.0
_MAX_REMEMBERED = 100
_WAITING = frozenset({"asyncio.base_events", "asyncio.runners", "selectors", "uvloop"})
"""Where a loop is that has nothing to do: then the process or the machine stood still."""

OwnerOf = Callable[[str], str | None]
"""Names the plugin that a module is a part of, if any."""

log = get_logger(__name__)


class Hold(NamedTuple):
    """A time for which the loop was held.

    Attributes:
        at: when it ended, in the clock's seconds.
        seconds: how long it was.
        plugin: whose code ran.
        place: the module, the line and the function.
    """

    at: float
    seconds: float
    plugin: str
    place: str


class LoopWatchdog:
    """Looks whether the loop turns, and says who keeps it from that.

    Args:
        lag: what the loop itself notes at each turn.
        metrics: where holds are counted.
        owner_of: says whose a module is.
    """

    def __init__(self, lag: LoopLag, metrics: Metrics, owner_of: OwnerOf) -> None:
        self._lag = lag
        self._owner_of = owner_of
        self._held = metrics.count(
            "loop_held",
            f"Times that the event loop was held for over {HELD_SECONDS:g} s, by whose code.",
            "plugin",
        )
        self._recent: deque[Hold] = deque(maxlen=_MAX_REMEMBERED)
        self._ended = threading.Event()
        self._loop_thread = 0
        self._started = 0.0

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator[None]:
        """Look for as long as the block lasts; the loop that enters it is the one."""
        self._loop_thread = threading.get_ident()
        self._started = time.monotonic()
        self._ended.clear()
        thread = threading.Thread(target=self._watch, name="loop-watchdog", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            await asyncio.to_thread(thread.join)

    def notices(self) -> Iterator[str]:
        """What an admin should look at: the plugins that held the loop in the last ten minutes."""
        since = max(time.monotonic() - _REMEMBERED_SECONDS, self._started + STARTING_SECONDS)
        holds = [hold for hold in self._recent.copy() if hold.at > since]
        for plugin in sorted({hold.plugin for hold in holds}):
            of_it = [hold for hold in holds if hold.plugin == plugin]
            worst = max(of_it, key=lambda hold: hold.seconds)
            yield (
                f"{plugin} kept everybody waiting for {worst.seconds:.1f} s at {worst.place}; "
                f"{len(of_it)} times in the last ten minutes. What computes or blocks belongs in "
                "a thread or a process: tell its author."
            )

    def _watch(self) -> None:
        while not self._ended.wait(max(_LOOK_SECONDS, self._held_in())):
            turned_at = self._lag.turned_at
            if time.monotonic() - turned_at < INTERVAL_SECONDS + HELD_SECONDS:
                continue
            who = self._who_holds()
            while self._lag.turned_at == turned_at and not self._ended.wait(_LOOK_SECONDS):
                who = who or self._who_holds()
            if who is not None:
                self._tell(*who, self._lag.turned_at - turned_at - INTERVAL_SECONDS)

    def _held_in(self) -> float:
        """Seconds until the loop counts as held unless it turns; no look is due before."""
        return self._lag.turned_at + INTERVAL_SECONDS + HELD_SECONDS - time.monotonic()

    def _who_holds(self) -> tuple[str, str] | None:
        """Whose code the loop's thread runs, and where; None where it runs none."""
        # sys._current_frames is what tells of other threads (faulthandler prints the same).
        frame: FrameType | None = sys._current_frames().get(self._loop_thread)
        if frame is None or _module(frame) in _WAITING:
            return None
        innermost = frame
        while frame is not None:
            if plugin := self._owner_of(_module(frame)):
                return plugin, _place(frame)
            frame = frame.f_back
        return PORTAL, _place(innermost)

    def _tell(self, plugin: str, place: str, seconds: float) -> None:
        if seconds < HELD_SECONDS:
            return
        told = log.debug if time.monotonic() < self._started + STARTING_SECONDS else log.warning
        told("loop_held", plugin=plugin, place=place, seconds=round(seconds, 3))
        self._held.add(plugin)
        if plugin != PORTAL and seconds >= NOTICED_SECONDS:
            self._recent.append(Hold(time.monotonic(), seconds, plugin, place))


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _place(frame: FrameType) -> str:
    return f"{_module(frame)}, line {frame.f_lineno}, in {frame.f_code.co_name}"
