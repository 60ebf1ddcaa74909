"""Logs why a layer, or a store that it reads, fails: each at most once a minute."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gateway.toolkit.reasons import log_fields

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

LOG_INTERVAL_S = 60.0
"""How long the failures of a layer are not logged after one was."""


class FailureLog:
    """Logs why layers, and what they stand on, fail: each once a minute at most.

    Args:
        log: the plugin's.
        clock: seconds that only grow; replaced in tests.
    """

    def __init__(
        self, log: FilteringBoundLogger, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log, self._clock = log, clock
        self._logged: dict[str, float] = {}

    def __call__(self, layer: str, error: Exception) -> None:
        """Log a failure, unless one of this layer was just logged."""
        now = self._clock()
        last = self._logged.get(layer)
        if last is None or now - last >= LOG_INTERVAL_S:
            self._logged[layer] = now
            self._log.error("memory layer failed", layer=str(layer), **log_fields(error))
