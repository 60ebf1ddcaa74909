from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import aclosing

import pytest

from gateway.repositories.batches import in_batches
from gateway.repositories.protocol import Entry

ENTRY = Entry("a", 1, "sha", "digest", b"x")


async def test_who_gives_up_leaves_nothing_running() -> None:
    started, may_end, closed = threading.Event(), threading.Event(), threading.Event()

    def slow() -> Generator[Entry]:
        try:
            started.set()
            may_end.wait(60)
            yield ENTRY
        finally:
            closed.set()

    async def read() -> None:
        async with aclosing(in_batches(slow())) as entries:
            async for _ in entries:
                pass

    reading = asyncio.create_task(read())
    await asyncio.to_thread(started.wait, 10)
    reading.cancel()
    asyncio.get_running_loop().call_soon(may_end.set)
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert closed.is_set()


async def test_an_error_of_the_thread_arrives_after_what_came_before() -> None:
    def failing() -> Generator[Entry]:
        for _ in range(100):
            yield ENTRY
        raise ValueError("the end")

    seen = 0
    with pytest.raises(ValueError, match="the end"):
        async for _ in in_batches(failing()):
            seen += 1
    assert seen >= 64


async def test_little_is_read_ahead() -> None:
    read = 0

    def large() -> Generator[Entry]:
        nonlocal read
        for _ in range(100):
            read += 1
            yield Entry("a", 600_000, "sha", "digest", b"x" * 600_000)

    async with aclosing(in_batches(large())) as entries:
        await anext(entries)
        assert read == 2
