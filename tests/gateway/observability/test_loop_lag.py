from __future__ import annotations

import asyncio
import time

import pytest

from gateway.observability import loop_lag as module
from gateway.observability.loop_lag import LoopLag


async def test_what_holds_the_loop_is_seen_and_forgotten_after_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "INTERVAL_SECONDS", 0.001)
    lag = LoopLag()
    assert lag.worst_seconds == 0
    async with lag.watched():
        await asyncio.sleep(0.01)
        time.sleep(0.3)  # noqa: ASYNC251  (what this is about)
        await asyncio.sleep(0.01)
        assert lag.worst_seconds > 0.25
        lag._late.extend([0.0] * module._WINDOW)
        assert lag.worst_seconds < 0.25
