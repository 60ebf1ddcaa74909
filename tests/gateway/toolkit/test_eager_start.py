"""A coroutine's first step: what is done with it needs no timer, and what waits goes on as ever."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.eager_start import Begun, Done, begin, within


class TooLateError(Exception):
    pass


async def _steps(waits: list[float | None], seen: list[Any]) -> str:
    for number, wait in enumerate(waits):
        seen.append(number)
        if wait is not None:
            await asyncio.sleep(wait)
    return "done"


async def test_what_never_waits_is_done_at_once():
    seen: list[Any] = []
    first = begin(_steps([None, None], seen))
    assert isinstance(first, Done)
    assert (first.value, seen) == ("done", [0, 1])


async def test_what_waits_has_begun_and_goes_on_where_it_is_awaited():
    seen: list[Any] = []
    first = begin(_steps([0.001, 0, None], seen))
    assert isinstance(first, Begun)
    assert seen == [0]
    assert await first == "done"
    assert seen == [0, 1, 2]


async def test_what_fails_at_its_first_step_fails_there():
    async def failing() -> None:
        raise ValueError("at once")

    with pytest.raises(ValueError, match="at once"):
        begin(failing())


async def test_what_fails_later_fails_where_it_is_awaited():
    async def failing() -> None:
        await asyncio.sleep(0)
        raise ValueError("later")

    first = begin(failing())
    assert isinstance(first, Begun)
    with pytest.raises(ValueError, match="later"):
        await first


async def test_a_cancellation_reaches_what_waits():
    ended = asyncio.Event()

    async def waiting() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def serving() -> None:
        first = begin(waiting())
        assert isinstance(first, Begun)
        await first

    task = asyncio.create_task(serving())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_work_may_catch_a_cancellation_and_go_on():
    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "went on"

    async def serving() -> str:
        first = begin(stubborn())
        assert isinstance(first, Begun)
        return await first

    task = asyncio.create_task(serving())
    await asyncio.sleep(0)
    task.cancel()
    assert await task == "went on"


async def test_what_takes_too_long_is_ended_and_said_to_be_late():
    ended = asyncio.Event()

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    with pytest.raises(TooLateError):
        await within(0.01, slow(), TooLateError)
    assert ended.is_set()


@pytest.mark.parametrize("pause", [None, 0.001], ids=["at once", "later"])
async def test_a_timeout_of_the_works_own_is_not_taken_for_lateness(pause: float | None):
    async def timing_out() -> None:
        if pause is not None:
            await asyncio.sleep(pause)
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await within(60, timing_out(), TooLateError)


@pytest.mark.parametrize("inner", [0.001, 60], ids=["the inner one ends", "the outer one ends"])
async def test_timeouts_lie_within_each_other_in_any_order(inner: float):
    async def work() -> str:
        try:
            async with asyncio.timeout(inner):
                await asyncio.sleep(60)
        except TimeoutError:
            return "the work's own"
        raise AssertionError

    if inner == 60:
        with pytest.raises(TooLateError):
            await within(0.01, work(), TooLateError)
    else:
        assert await within(60, work(), TooLateError) == "the work's own"
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]


@given(waits=st.lists(st.sampled_from([None, 0.0, 0.0001]), max_size=6))
def test_every_mixture_of_steps_comes_to_the_same_end(waits: list[float | None]):
    async def both() -> tuple[list[Any], list[Any]]:
        plain: list[Any] = []
        timed: list[Any] = []
        assert await _steps(waits, plain) == "done"
        assert await within(60, _steps(waits, timed), TooLateError) == "done"
        return plain, timed

    plain, timed = asyncio.run(both())
    assert plain == timed
