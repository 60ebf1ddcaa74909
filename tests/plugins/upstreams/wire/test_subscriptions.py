"""A stream of changes is replaced without a gap, and none is left behind."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from gateway.toolkit.background import cancel
from plugins.upstreams.wire import GAP, ConnectionLost
from plugins.upstreams.wire.call import Call
from plugins.upstreams.wire.calls import Calls
from plugins.upstreams.wire.messages import Message, notification
from plugins.upstreams.wire.revisions import Modern
from plugins.upstreams.wire.subscriptions import Subscriptions
from tests.plugins.upstreams.wire.peers import CLIENT, Heard

ACKNOWLEDGED = notification("notifications/subscriptions/acknowledged", {})
UPDATED = "notifications/resources/updated"


class Streams:
    """A transport whose streams say what a test puts into them."""

    def __init__(self) -> None:
        self.opened: list[asyncio.Queue[Message | ConnectionLost]] = []
        self.open_now = 0
        self.news = asyncio.Event()

    @asynccontextmanager
    async def open(
        self, message: Message, call: Call, headers: Mapping[str, str], *, bounded: bool = True
    ) -> AsyncIterator[AsyncIterator[Message]]:
        said: asyncio.Queue[Message | ConnectionLost] = asyncio.Queue()
        self.opened.append(said)
        self._count(1)
        try:
            yield _messages(said)
        finally:
            self._count(-1)

    async def send(self, message: Message) -> None:
        raise AssertionError("nothing is sent beside the streams")

    async def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 60)

    def _count(self, more: int) -> None:
        self.open_now += more
        self.news.set()


async def _messages(said: asyncio.Queue[Message | ConnectionLost]) -> AsyncIterator[Message]:
    while True:
        message = await said.get()
        if isinstance(message, ConnectionLost):
            raise message
        yield message


class Followed:
    """Subscriptions that run, with one stream acknowledged and another asked for."""

    def __init__(self) -> None:
        self.streams, self.heard = Streams(), Heard()
        ids = itertools.count(1)
        calls = Calls(self.streams, self.heard.tell)
        transport: Any = self.streams
        self.subscriptions = Subscriptions(transport, calls, Modern(CLIENT), lambda: next(ids), {})
        self.running = asyncio.create_task(self.subscriptions.run(asyncio.Event()))
        assert calls.notifier is not None
        self.telling = asyncio.create_task(calls.notifier.run())

    async def end(self) -> None:
        await cancel(self.running, self.telling)
        assert self.streams.open_now == 0

    async def replace(self) -> None:
        await self._follow("shop://a")
        self.streams.opened[0].put_nowait(ACKNOWLEDGED)
        await self._follow("shop://b")

    async def _follow(self, uri: str) -> None:
        count = len(self.streams.opened) + 1
        self.subscriptions.watch([uri])
        await self.streams.until(lambda: len(self.streams.opened) == count)


async def test_a_connection_closed_while_its_stream_is_replaced_closes_both() -> None:
    followed = Followed()
    await followed.replace()
    assert followed.streams.open_now == 2
    await followed.end()


async def test_a_stream_that_breaks_off_while_it_is_replaced_stops_no_other() -> None:
    followed = Followed()
    await followed.replace()
    first, second = followed.streams.opened
    first.put_nowait(ConnectionLost("The server broke off in the middle of its answer."))
    await followed.streams.until(lambda: followed.streams.open_now == 1)
    second.put_nowait(ACKNOWLEDGED)
    second.put_nowait(notification(UPDATED, {"uri": "shop://b"}))
    assert await followed.heard.until_told(UPDATED) == {"uri": "shop://b"}
    followed.subscriptions.watch(["shop://c"])
    await followed.streams.until(lambda: len(followed.streams.opened) == 3)
    await followed.end()


async def test_what_a_stream_missed_that_broke_off_while_it_was_replaced_is_told() -> None:
    followed = Followed()
    await followed.replace()
    first, second = followed.streams.opened
    first.put_nowait(ConnectionLost("The server broke off in the middle of its answer."))
    await followed.streams.until(lambda: followed.streams.open_now == 1)
    second.put_nowait(ACKNOWLEDGED)
    await followed.heard.until_told(GAP)
    await followed.end()


async def test_nothing_is_left_waiting_of_a_stream_that_was_to_be_opened_again() -> None:
    before = asyncio.all_tasks()
    followed = Followed()
    followed.subscriptions.watch(["shop://a"])
    await followed.streams.until(lambda: len(followed.streams.opened) == 1)
    followed.streams.opened[0].put_nowait(ConnectionLost("The server broke off."))
    await followed.streams.until(lambda: followed.streams.open_now == 0)
    await asyncio.sleep(0)
    await followed.end()
    assert asyncio.all_tasks() == before
