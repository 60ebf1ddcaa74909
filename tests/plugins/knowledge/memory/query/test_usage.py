"""Uses are written once, and wait where they cannot be."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

import pytest

from plugins.knowledge.memory.query.usage import Usage


async def test_what_is_written_when_the_writer_is_cancelled_is_not_written_again() -> None:
    kept, written, go_on = Counter[str](), asyncio.Event(), asyncio.Event()

    async def keep(uses: Mapping[str, int]) -> None:
        kept.update(uses)
        written.set()
        await go_on.wait()

    usage = Usage(keep)
    usage.count(["a", "b", "a"])
    flushing = asyncio.create_task(usage.flush())
    await written.wait()
    flushing.cancel()
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.wait({flushing})
    await usage.flush()
    assert (flushing.cancelled(), kept) == (True, {"a": 2, "b": 1})


async def test_what_cannot_be_written_waits() -> None:
    kept, fails = Counter[str](), [True]

    async def keep(uses: Mapping[str, int]) -> None:
        if fails[0]:
            raise OSError("the database is locked")
        kept.update(uses)

    usage = Usage(keep)
    usage.count(["a"])
    with pytest.raises(OSError, match="locked"):
        await usage.flush()
    fails[0] = False
    usage.count(["a"])
    await usage.flush()
    assert kept == {"a": 2}
