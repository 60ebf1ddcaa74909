"""A limit for a server's time, in which a process that stands still has not waited."""

from __future__ import annotations

import asyncio
import time

import pytest

from gateway.services.patience import patience

MOMENT = 0.05


async def test_who_takes_too_long_is_waited_for_no_longer() -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with patience(MOMENT):
            await asyncio.Event().wait()
    assert time.monotonic() - began >= MOMENT


async def test_what_is_done_in_time_goes_through() -> None:
    async with patience(MOMENT):
        await asyncio.sleep(0)
    await asyncio.sleep(2 * MOMENT)  # and nothing comes after it


async def test_time_in_which_the_process_stood_still_is_not_the_servers() -> None:
    async with patience(MOMENT):
        await asyncio.sleep(0)
        time.sleep(3 * MOMENT)  # noqa: ASYNC251 -- the process stands still
        await asyncio.sleep(0)


async def test_a_failure_inside_is_raised_as_it_is() -> None:
    with pytest.raises(ConnectionError, match="refused"):
        async with patience(MOMENT):
            raise ConnectionError("refused")


async def test_a_cancellation_from_outside_stays_one() -> None:
    async def ask() -> None:
        async with patience(60):
            await asyncio.Event().wait()

    task = asyncio.create_task(ask())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
