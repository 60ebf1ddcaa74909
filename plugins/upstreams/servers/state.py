"""Whether a server answers, since when not, and why: its circuit breaker.

Where it does not answer, nobody waits for it: calls are told so at once. Beside them one attempt
after the other is made to reach it, with growing pauses, until one succeeds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

TIMEOUTS_IN_A_ROW = 5
"""Calls that end by their deadline, one after the other, before a server counts as down."""

Standing = Literal["new", "up", "down"]


@dataclass(slots=True)
class State:
    """How a server stands.

    Attributes:
        standing: ``new`` until it was first reached, then ``up`` or ``down``.
        reason: why it is down, in one sentence.
        since: since when it stands like that.
    """

    standing: Standing = "new"
    reason: str = ""
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    _timeouts: int = 0
    _since_seconds: float = field(default_factory=time.monotonic)

    @property
    def is_down(self) -> bool:
        """Whether calls are told at once that it does not answer."""
        return self.standing == "down"

    @property
    def seconds(self) -> float:
        """For how long it has stood like that."""
        return time.monotonic() - self._since_seconds

    def answered(self) -> None:
        """It has answered: whatever was before is over."""
        self._timeouts = 0
        if self.standing != "up":
            self._turn("up", "")

    def failed(self, reason: str) -> bool:
        """It could not be reached; whether that is news."""
        if self.is_down:
            self.reason = reason.rstrip(".")
            return False
        self._turn("down", reason)
        return True

    def timed_out(self, seconds: float) -> bool:
        """A call has ended by its deadline; whether the server counts as down from now on."""
        self._timeouts += 1
        if self._timeouts < TIMEOUTS_IN_A_ROW:
            return False
        return self.failed(f"{self._timeouts} calls in a row had no answer within {seconds:g} s")

    def _turn(self, standing: Standing, reason: str) -> None:
        self.standing, self.reason, self._timeouts = standing, reason.rstrip("."), 0
        self.since, self._since_seconds = datetime.now(UTC), time.monotonic()
