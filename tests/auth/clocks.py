"""A clock that stands still until told."""

from __future__ import annotations


class Clock:
    """Seconds, as ``time.time`` and ``time.monotonic`` give them."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
