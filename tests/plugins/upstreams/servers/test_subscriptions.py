"""What clients follow of a server is followed there, whatever goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import structlog

from gateway.toolkit.background import background
from plugins.upstreams.servers.subscriptions import Following
from plugins.upstreams.wire import MAX_WATCHED


class Watched:
    """A connection that keeps what it is to watch, and fails as often as a test says."""

    server = SimpleNamespace(capabilities={"resources": {"subscribe": True}})

    def __init__(self, fails: int = 0) -> None:
        self.fails = fails
        self.now: frozenset[str] = frozenset()
        self.changed = asyncio.Event()

    async def watch(self, uris: Collection[str]) -> None:
        if self.fails:
            self.fails -= 1
            raise RuntimeError("nobody foresaw this")
        self.now = frozenset(uris)
        self.changed.set()

    async def until_changed(self) -> frozenset[str]:
        await asyncio.wait_for(self.changed.wait(), 60)
        self.changed.clear()
        return self.now


def following(connection: Any) -> Following:
    async def connect() -> Any:
        return connection

    return Following(connect, lambda _: None, structlog.get_logger())


async def test_more_than_a_connection_may_watch_are_cut_and_the_next_change_is_heard() -> None:
    connection = Watched()
    one = following(connection)
    async with background(one.keep()):
        one.follow([f"far://{number:04}" for number in range(MAX_WATCHED + 200)])
        watched = await connection.until_changed()
        assert (len(watched), max(watched)) == (MAX_WATCHED, f"far://{MAX_WATCHED - 1:04}")
        one.follow(["far://1"])
        assert await connection.until_changed() == {"far://1"}


async def test_an_error_that_nobody_foresaw_ends_no_following() -> None:
    connection = Watched(fails=1)
    one = following(connection)
    async with background(one.keep()):
        one.follow(["far://1"])
        assert await connection.until_changed() == {"far://1"}
