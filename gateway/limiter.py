"""How often one caller may do something, such as register a client or begin to sign in."""

from __future__ import annotations

import time
from array import array
from collections import OrderedDict
from collections.abc import Callable


class Limiter:
    """Counts what each key did of late; exact, and of bounded memory.

    It counts in this process alone: what must hold over all replicas is no matter of a limit. A
    key that was not heard of for longest is forgotten first, so whoever has more keys than are
    remembered is held by none; that takes as many addresses.

    Args:
        limit: times that a key may do it within the seconds, whichever moment they are counted
            from; at least 1.
        seconds: the length of the window.
        peers: how many keys to remember. Each takes 8 bytes for each time that it used, and some
            250 of its own.
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
        self._times: OrderedDict[str, array[float]] = OrderedDict()

    def allow(self, key: str) -> float | None:
        """Let a key do it once more, or say how long it must wait.

        What is not allowed does not count, so that a caller who keeps asking is let in as soon as
        one who waits.

        Args:
            key: who, such as :func:`gateway.peers.peer_of` says.

        Returns:
            None where it is allowed; otherwise the seconds until it will be, more than 0.
        """
        now = self._clock()
        times = self._times.setdefault(key, array("d"))
        self._times.move_to_end(key)
        if len(self._times) > self._peers:
            self._times.popitem(last=False)
        while times and times[0] + self._seconds <= now:
            times.pop(0)
        if len(times) >= self._limit:
            return times[0] + self._seconds - now
        times.append(now)
        return None
