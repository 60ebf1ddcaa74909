"""Who talks unasked is worked for a tenth of the time, and who says little waits for nothing."""

from __future__ import annotations

import asyncio
from time import perf_counter

import pytest

from plugins.upstreams.wire.share import MAX_REST_SECONDS, RESTS, Share


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The rests that were taken, in seconds; none of them lasts."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", pause)
    return pauses


async def test_a_little_work_costs_no_rest(pauses: list[float]) -> None:
    await Share().rest(perf_counter())
    assert pauses == []


async def test_a_rest_is_as_long_as_the_work_asks_and_no_longer_than_the_most(
    pauses: list[float],
) -> None:
    share = Share()
    await share.rest(perf_counter() - 0.01)
    await share.rest(perf_counter() - 100)
    first, second = pauses
    assert first >= RESTS * 0.01
    assert second == MAX_REST_SECONDS


async def test_pieces_of_work_are_counted_together(pauses: list[float]) -> None:
    share = Share()
    for _ in range(10):
        await share.rest(perf_counter() - 0.0002)
    assert 1 <= len(pauses) < 10
