"""Says that GitHub has a source wait, while it does; nobody has to wait to learn of it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from gateway.repositories import SourceFailed

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

LONG_S = 5.0
"""Seconds from which a wait is told; a shorter one is over before anybody could do something."""
ANSWER = timedelta(seconds=20)
"""How long the request after a wait may take to be answered, or to fail and be told again."""


class Delay:
    """The wait that GitHub imposes on a source between two requests.

    Args:
        source: its key, for the log.
        log: for the admin.
    """

    def __init__(self, source: str, log: FilteringBoundLogger) -> None:
        self._source = source
        self._log = log
        self._reason = ""
        self._until = datetime.now(UTC)
        self._begun = asyncio.Event()

    @property
    def reason(self) -> str:
        """Why it waits, and until when; an empty text where it does not, or not for long."""
        return self._reason if datetime.now(UTC) < self._until else ""

    def begins(self, failure: Exception, wait_s: float) -> None:
        """A request is made again in so many seconds."""
        if wait_s < LONG_S:
            return
        before = self.reason
        self._until = datetime.now(UTC) + timedelta(seconds=wait_s) + ANSWER
        self._reason = _said(failure)
        self._begun.set()
        self._begun.clear()
        if not before:  # of several requests at once one is told
            self._log.warning("behind its branch", source=self._source, reason=self._reason)

    def end(self) -> None:
        """It is not followed any more just now."""
        self._reason = ""

    async def begun(self) -> str:
        """Wait until GitHub makes the source wait for long; returns the reason."""
        while not self.reason:
            await self._begun.wait()
        return self.reason


def _said(failure: Exception) -> str:
    if isinstance(failure, SourceFailed):
        return failure.message.rstrip(".")
    return "GitHub does not answer. Try again in a minute"
