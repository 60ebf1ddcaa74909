"""Tracebacks that cost little: the ends of long ones, and each one once in a while.

A whole traceback of a recursion takes 33 ms on the event loop, and what raises once raises again.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable

MAX_FRAMES = 12
"""Frames that are shown of each exception: the last ones."""
QUIET_SECONDS = 10.0
"""Seconds for which the same traceback is not shown again."""
MAX_CAUSES = 3
"""Exceptions that are shown of a chain: the last ones."""
_MAX_KNOWN = 500


class Tracebacks:
    """Writes tracebacks for the log.

    Args:
        clock: seconds that only grow; replaced in tests.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._shown: dict[tuple[object, ...], tuple[float, int]] = {}

    def fields(self, where: str, error: BaseException) -> dict[str, object]:
        """What a log line says of an error: what it is, and now and then where it was raised.

        Args:
            where: what was done, so that one item's failures do not hide another's.
            error: the error.
        """
        key = (where, type(error), _place(error))
        now = self._clock()
        shown, before = self._shown.get(key, (float("-inf"), 0))
        if now - shown < QUIET_SECONDS:
            self._shown[key] = shown, before + 1
            return {"error": _message(error)}
        if len(self._shown) >= _MAX_KNOWN:
            self._shown.clear()
        self._shown[key] = now, 0
        again = {"times_since_last_traceback": before} if before else {}
        return {"error": _message(error), "exception": shortened(error), **again}


def shortened(error: BaseException) -> str:
    """The last frames of an error, and of what caused it."""
    parts: list[str] = []
    each: BaseException | None = error
    while each is not None and len(parts) < MAX_CAUSES:
        lines = ["Traceback (the last calls):\n"] if each.__traceback__ else []
        lines += traceback.format_tb(each.__traceback__, limit=-MAX_FRAMES)
        parts.append("".join([*lines, _message(each)]))
        following = each.__cause__
        each = (
            each.__context__ if following is None and not each.__suppress_context__ else following
        )
    return "\n\nwhich came of:\n\n".join(parts)


def _message(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:2000]
    except Exception:  # an error of a plugin's whose text cannot be made
        return type(error).__name__


def _place(error: BaseException) -> tuple[object, int] | None:
    """The innermost line, which of a recursion's many frames is found without their texts."""
    found = error.__traceback__
    while found is not None and found.tb_next is not None:
        found = found.tb_next
    return None if found is None else (found.tb_frame.f_code, found.tb_lineno)
