"""Whether a server answers, since when not, and why: its circuit breaker.

The breaker is closed while it answers. It opens once the server cannot be reached, or after some
calls in a row that ended by their deadline or with an HTTP error of a server in trouble. While it
is open, nobody waits: calls are told so at once. Beside them one probe after the other is made,
with growing pauses, and the first that succeeds closes it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

FAILURES_IN_A_ROW = 5
"""Calls that fail, one after the other and no success between, before a server counts as down."""
TROUBLED = frozenset({500, 502, 503, 504})
"""HTTP statuses that say that the server, or what it stands on, is in trouble."""
MAX_RETRY_AFTER_SECONDS = 300.0
"""The longest that a server is left alone because it asked for that."""

Status = Literal["new", "up", "down"]
"""``new`` until a server was first reached."""


@dataclass(slots=True)
class State:
    """Whether one server answers.

    Attributes:
        status: what it is now.
        reason: why it is down, in one sentence.
        since: since when it has this status.
        breaks: how often a connection to it ended by itself, such as with a program that died.
        last_break: when that was last, and why.
        clock: seconds that never go back.
    """

    status: Status = "new"
    reason: str = ""
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    breaks: int = 0
    last_break: tuple[datetime, str] | None = None
    clock: Callable[[], float] = time.monotonic
    _failures: int = 0
    _not_before: float = 0.0
    _since_seconds: float = field(init=False)

    def __post_init__(self) -> None:
        self._since_seconds = self.clock()

    @property
    def is_down(self) -> bool:
        """Whether calls are told at once that it does not answer."""
        return self.status == "down"

    @property
    def seconds(self) -> float:
        """For how long it has had its status."""
        return self.clock() - self._since_seconds

    @property
    def pause(self) -> float:
        """The seconds for which it asked to be left alone, as far as they are not over."""
        return max(0.0, self._not_before - self.clock()) if self.is_down else 0.0

    def broke(self, reason: str) -> None:
        """A connection to it has ended by itself; whether it answers a new one is to be seen."""
        self.breaks += 1
        self.last_break = datetime.now(UTC), reason.rstrip(".")

    def answered(self) -> None:
        """It has answered: whatever was before is over."""
        self._failures, self._not_before = 0, 0.0
        if self.status != "up":
            self._turn("up", "")

    def failed(self, reason: str, retry_after: float = 0.0) -> bool:
        """It could not be reached; whether that is news.

        Args:
            reason: why, in one sentence.
            retry_after: the seconds for which it asks to be left alone.
        """
        self._heed(retry_after)
        if self.is_down:
            self.reason = reason.rstrip(".")
            return False
        self._turn("down", reason)
        return True

    def timed_out(self, seconds: float) -> bool:
        """A call has ended by its deadline; whether the server counts as down from now on."""
        return self._one_more(f"no answer within {seconds:g} s")

    def refused(self, status: int, retry_after: float = 0.0) -> bool:
        """A call has ended with an HTTP error; whether the server counts as down from now on.

        Args:
            status: the HTTP status; only those of a server in trouble count.
            retry_after: the seconds that it asks to be left alone; they hold once it is down.
        """
        if status not in TROUBLED:
            return False
        self._heed(retry_after)
        return self._one_more(f"no answer but an error, HTTP {status} at last")

    def _one_more(self, what: str) -> bool:
        self._failures += 1
        if self.is_down or self._failures < FAILURES_IN_A_ROW:
            return False
        return self.failed(f"{self._failures} calls in a row had {what}")

    def _heed(self, retry_after: float) -> None:
        wished = self.clock() + min(retry_after, MAX_RETRY_AFTER_SECONDS)
        self._not_before = max(self._not_before, wished)

    def _turn(self, status: Status, reason: str) -> None:
        self.status, self.reason, self._failures = status, reason.rstrip("."), 0
        self.since, self._since_seconds = datetime.now(UTC), self.clock()
