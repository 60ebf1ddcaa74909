"""What goes on behind a block ends with it, and a failure is not lost."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from gateway.toolkit import background as module
from gateway.toolkit.background import background, cancel, every, to_its_end


async def test_work_goes_on_for_as_long_as_the_block() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.set()

    async with background(work(), work()):
        await begun.wait()
        assert not ended.is_set()
    assert ended.is_set()


async def test_a_failure_is_raised_when_all_have_ended() -> None:
    ended = asyncio.Event()

    async def fails() -> None:
        raise RuntimeError("broken")

    async def works() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    went_on = False
    with pytest.raises(RuntimeError, match="broken"):
        async with background(fails(), works()):
            await asyncio.sleep(0)
            went_on = True
    assert went_on
    assert ended.is_set()


async def test_a_failure_in_the_middle_of_the_block_is_logged_at_once() -> None:
    async def fails() -> None:
        raise RuntimeError("broken")

    with capture_logs() as lines, pytest.raises(RuntimeError, match="broken"):
        async with background(fails()):
            while not lines:  # noqa: ASYNC110
                await asyncio.sleep(0)
    (line,) = lines
    assert (line["event"], line["reason"]) == ("background_work_ended", "broken")
    assert str(line["work"]).endswith("fails")


async def test_the_blocks_own_failure_ends_the_work_too() -> None:
    ended = asyncio.Event()

    async def works() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(KeyError):
        async with background(works()):
            await asyncio.sleep(0)
            raise KeyError
    assert ended.is_set()


async def test_whoever_waits_for_the_end_can_be_cancelled() -> None:
    released = asyncio.Event()

    async def slow_to_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await released.wait()

    slow = asyncio.create_task(slow_to_end())
    await asyncio.sleep(0)
    waiting = asyncio.create_task(cancel(slow))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    assert waiting.cancelled()
    released.set()
    await asyncio.wait({slow})


async def test_nothing_is_cancelled_where_there_is_nothing() -> None:
    await cancel()


@pytest.mark.parametrize("first_s", [None, 0])
async def test_what_fails_is_tried_again(first_s: float | None) -> None:
    failures: list[Exception] = []
    done = asyncio.Event()

    async def work() -> None:
        if len(failures) < 2:
            raise ValueError(len(failures))
        done.set()

    async with asyncio.timeout(60), background(every(0, work, failures.append, first_s=first_s)):
        await done.wait()
    assert [str(each) for each in failures] == ["0", "1"]


async def test_the_first_time_comes_before_the_pause_or_after_it() -> None:
    done: list[str] = []

    async def work() -> None:
        done.append("x")

    def failed(error: Exception) -> None:
        done.append(f"{error}")

    async with background(every(3600, work, failed), every(3600, work, failed, first_s=0)):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert done == ["x"]


async def test_work_that_must_not_be_cut_ends_before_its_cancellation_is_heard() -> None:
    begun, go_on, done = asyncio.Event(), asyncio.Event(), list[str]()

    async def write() -> None:
        begun.set()
        await go_on.wait()
        done.append("committed")

    waiting = asyncio.create_task(to_its_end(write()))
    await begun.wait()
    waiting.cancel()
    await asyncio.sleep(0)
    assert not waiting.done()
    go_on.set()
    await asyncio.wait({waiting})
    assert (waiting.cancelled(), done) == (True, ["committed"])


async def test_work_that_never_ends_is_cancelled_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.01)
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hangs() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting = asyncio.create_task(to_its_end(hangs()))
    await begun.wait()
    waiting.cancel()
    await asyncio.wait({waiting})
    assert (waiting.cancelled(), ended.is_set()) == (True, True)


async def test_what_the_work_raises_or_returns_is_its_callers() -> None:
    async def fails() -> None:
        raise ValueError("broken")

    async def gives() -> int:
        return 7

    with pytest.raises(ValueError, match="broken"):
        await to_its_end(fails())
    assert await to_its_end(gives()) == 7
