"""How often one caller may do something, such as register a client or call tools."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

_FEW_TIMES = 64
"""Times that have passed and are not worth to be cleared away yet."""


class Limiter:
    """Counts what each key did of late; exact, and of bounded memory.

    It counts in this process alone. Keys that were not heard of for longest are forgotten first,
    half of them at a time, so whoever has more keys than are remembered is held by none; that takes
    as many addresses.

    Args:
        limit: times that a key may do it within the seconds, whichever moment they are counted
            from; at least 1.
        seconds: the length of the window.
        peers: how many keys to remember, and at least half of them. Each takes some 130 bytes, and
            from its second time within the seconds on 150 more and 8 for each time.
        clock: seconds that never go back; replaced in tests.
    """

    def __init__(
        self,
        limit: int,
        seconds: float,
        peers: int = 4_096,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = limit
        self._seconds = seconds
        self._peers = peers
        self._clock = clock
        # Who was heard of since the last time that half of all were forgotten, and before it. An
        # order of all keys would take as much memory again, and time with each call.
        self._late: dict[str, float | _Past] = {}
        self._early: dict[str, float | _Past] = {}

    def allow(self, key: str) -> float | None:
        """Let a key do it once more, or say how long it must wait.

        What is not allowed does not count, so that a caller who keeps asking is let in as soon as
        one who waits.

        Args:
            key: who, such as :func:`gateway.surfaces.http.client_address.peer_of` says.

        Returns:
            None where it is allowed; otherwise the seconds until it will be, more than 0.
        """
        wait, _ = self.look(key)
        if wait:
            return wait
        self.count(key)
        return None

    def look(self, key: str, now: float | None = None) -> tuple[float, int]:
        """How long a key must wait, 0 where it may go on, and how often it may until it must.

        Args:
            key: who.
            now: the time by the clock, where that is known already.
        """
        past = self._found(key)
        if past is None:
            return 0.0, self._limit
        now = self._clock() if now is None else now
        used, first = past.counted(now, self._seconds) if isinstance(past, _Past) else (1, past)
        if first + self._seconds <= now:  # all of them have passed
            self._late.pop(key, None)
            self._early.pop(key, None)
            return 0.0, self._limit
        left = self._limit - used
        return (0.0, left) if left > 0 else (first + self._seconds - now, 0)

    def count(self, key: str, now: float | None = None) -> None:
        """Count that a key, which :meth:`look` let go on just now, did it.

        Args:
            key: who.
            now: the time by the clock, where that is known already.
        """
        past, now = self._found(key), self._clock() if now is None else now
        if isinstance(past, _Past):
            past.times.append(now)
        else:  # most keys do it once: a number takes a fraction of what an array does
            self._early.pop(key, None)
            self._keep(key, now if past is None else _Past(past, now))

    def _found(self, key: str) -> float | _Past | None:
        past = self._late.get(key)
        if past is None and (past := self._early.pop(key, None)) is not None:
            self._keep(key, past)
        return past

    def _keep(self, key: str, past: float | _Past) -> None:
        self._late[key] = past
        if 2 * len(self._late) > self._peers:
            self._late, self._early = {}, self._late


class _Past:
    """The times at which a key did it, from ``begin`` on; what stands before has passed."""

    __slots__ = ("begin", "times")

    def __init__(self, *times: float) -> None:
        self.times = array("d", times)
        self.begin = 0

    def counted(self, now: float, seconds: float) -> tuple[int, float]:
        """How many times are younger than some seconds, and the oldest; at least the newest."""
        times, begin = self.times, self.begin
        while begin < len(times) - 1 and times[begin] + seconds <= now:
            begin += 1
        if begin > _FEW_TIMES and 2 * begin > len(times):
            del times[:begin]
            begin = 0
        self.begin = begin
        return len(times) - begin, times[begin]
