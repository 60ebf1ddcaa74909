"""How much of the portal's time a server may take for what nobody has asked of it."""

from __future__ import annotations

import asyncio
from time import perf_counter

from gateway.toolkit.time_slices import TURN_SECONDS

RESTS = 9
"""Seconds of rest for each second of work: a server that talks without end gets a tenth."""
MAX_REST_SECONDS = 0.25


class Share:
    """Rests after work, so that others are served; what the server writes meanwhile waits there.

    Little work costs no rest: a line now and then is heard at once.
    """

    def __init__(self) -> None:
        self._worked = 0.0

    async def rest(self, begun: float) -> None:
        """Count a piece of work, and rest once there was enough of it.

        Args:
            begun: when the work began, by ``time.perf_counter``; it ends now.
        """
        self._worked += perf_counter() - begun
        if self._worked >= TURN_SECONDS:
            pause, self._worked = min(RESTS * self._worked, MAX_REST_SECONDS), 0.0
            await asyncio.sleep(pause)
