"""DBOS's log messages: without tracebacks, and an outage of its database once, in our words."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from threading import Lock

OUTAGE_QUIET_SECONDS = 120.0
"""Seconds without a word of it after which an outage is over; DBOS looks for work twice a minute
at least, so that each outage is one line."""

_OUTAGE = re.compile(
    r"\b(OperationalError|InterfaceError|ConnectionError|TimeoutError)\b"
    r"|^Database connection|^Notification listener"
)
_TRACEBACK = "Traceback (most recent call last):"
# What an exception is, at the end of its traceback; SQLAlchemy adds the statement and its values.
_RAISED = re.compile(r"^([\w.]+)(?:: .*)?$", re.MULTILINE)


class JobsLog(logging.Filter):
    """Rewrites the warnings of DBOS, several of whose threads write at the same time.

    A statement's values, which SQLAlchemy shows with an error, are left out too.

    Args:
        clock: seconds that only grow; replaced in tests.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = Lock()
        self._last = float("-inf")

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite a record, or say that it is not wanted."""
        if record.levelno < logging.WARNING:
            return True
        message = record.getMessage()
        if record.levelno == logging.WARNING and (found := _OUTAGE.search(message)):
            if not self._is_new():
                return False
            why = f" ({found[1]})" if found[1] else ""
            message = f"The database of the jobs does not answer{why}. Jobs wait until it does."
        elif _TRACEBACK in message:
            headline, _, traceback = message.partition(_TRACEBACK)
            raised = _RAISED.findall(traceback)
            message = f"{headline.rstrip(' :')}: {raised[-1] if raised else 'an error'}"
        record.msg, record.args = message, None
        return True

    def _is_new(self) -> bool:
        with self._lock:
            now = self._clock()
            before, self._last = self._last, now
            return now - before >= OUTAGE_QUIET_SECONDS
