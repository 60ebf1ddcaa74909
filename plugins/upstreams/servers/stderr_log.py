"""What programs write to their standard error, in the portal's log: as much as a log can bear."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.upstreams.wording import visible

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

MAX_LINES, WINDOW_SECONDS = 600, 60.0
"""Lines that are logged in a window; the others are counted."""
_MAX_LINE_CHARACTERS = 500


class Said:
    """Logs the lines of one server.

    Args:
        log: the server's.
        clock: seconds that never go back.
    """

    def __init__(
        self, log: FilteringBoundLogger, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log = log
        self._clock = clock
        self._until = 0.0
        self._lines = 0

    def __call__(self, line: str) -> None:
        """Log a line, unless there were too many of late."""
        if (now := self._clock()) >= self._until:
            if (more := self._lines - MAX_LINES) > 0:
                self._log.warning("server_said_too_much", lines_left_out=more)
            self._until, self._lines = now + WINDOW_SECONDS, 0
        self._lines += 1
        if self._lines <= MAX_LINES:
            self._log.info("server_said", line=visible(line[:_MAX_LINE_CHARACTERS]))
