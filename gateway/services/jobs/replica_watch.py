"""Which replicas live, as one of them sees it, and which died and were not replaced."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["ReplicaWatch", "Seen"]

TOLD_SECONDS = 86_400.0
"""Seconds for which an admin is told of a replica that died and was not replaced."""


class Seen(NamedTuple):
    """A replica's lease.

    Attributes:
        executor: the name of its life.
        place: how an admin knows it.
        seconds_left: until its lease runs out; below 0 where it has.
    """

    executor: str
    place: str
    seconds_left: float


class ReplicaWatch:
    """Compares what is seen of the replicas with what was seen before.

    Args:
        silent_seconds: a lease that has less left has not been renewed for long: where it is gone
            at the next look, its replica did not leave in order.
        clock: seconds that only grow; replaced in tests.

    Attributes:
        living: the replicas that live, as an admin knows them.
    """

    def __init__(self, silent_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._silent_seconds = silent_seconds
        self._clock = clock
        self._seen: dict[str, Seen] = {}
        self._died: dict[str, tuple[str, float]] = {}
        self.living: tuple[str, ...] = ()

    def look(self, replicas: Sequence[Seen]) -> None:
        """Take note of all leases that there are now."""
        now = {each.executor: each for each in replicas}
        for _ in now.keys() - self._seen.keys():  # each in the place of who died first
            self._died.pop(next(iter(self._died), ""), None)
        for executor, each in self._seen.items():
            if executor not in now and each.seconds_left < self._silent_seconds:
                self._died[executor] = (each.place, self._clock())
        self._seen = now
        self.living = tuple(sorted(each.place for each in replicas if each.seconds_left > 0))

    def notices(self) -> Iterator[str]:
        """What an admin should look at: replicas that died, and who is to start them again."""
        for place, at in self._died.values():
            if (dead := self._clock() - at) < TOLD_SECONDS:
                yield (
                    f"The replica on {place} died {_ago(dead)}, and none has come in its place. "
                    "The others serve and go on with its jobs. Start it again; its own log, or "
                    "its supervisor's, says why it ended."
                )


def _ago(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s ago"
    return f"{seconds / 60:.0f} min ago" if seconds < 7200 else f"{seconds / 3600:.0f} h ago"
