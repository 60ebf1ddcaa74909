"""The channels of Redis that this process listens on, over one connection.

What arrives is handed to the listeners of this process through the cache in memory. A connection
that is lost, or says nothing to a ping, is made again; what was published meanwhile is missed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from gateway.observability.logs import get_logger
from gateway.services.cache.memory import MemoryCache
from gateway.toolkit.background import cancel, start

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.asyncio.client import PubSub

__all__ = ["Channels"]

SUBSCRIBE_TIMEOUT_SECONDS = 2.0
"""Seconds that a listener waits until the server has confirmed that it will be told."""
QUIET_SECONDS = 5.0
"""Seconds without a word after which the server is asked whether the line is alive; after as many
again it is not."""
RETRY_INTERVAL_SECONDS = 1.0
"""Seconds between two attempts to listen again."""

log = get_logger(__name__)


class Channels:
    """Listens on channels for as long as somebody in this process does.

    Args:
        redis: gives the client, which connects at first use.
        prefix: what the names of all channels begin with, on the server.
        local: where listeners of this process hear what arrives.
        lost: awaited when the connection is lost, so that a server that is away is known to be
            before any call asks it.
    """

    def __init__(
        self,
        redis: Callable[[], Redis],
        prefix: str,
        local: MemoryCache,
        lost: Callable[[], Awaitable[object]],
    ) -> None:
        self._redis = redis
        self._prefix = prefix
        self._local = local
        self._lost = lost
        self._listeners: Counter[str] = Counter()
        self._confirmed: dict[str, asyncio.Event] = {}
        self._subscription: PubSub | None = None
        self._reading: asyncio.Task[None] | None = None

    def name(self, channel: str) -> str:
        """What the server calls a channel."""
        return self._prefix + channel

    @asynccontextmanager
    async def listen(self, channel: str) -> AsyncGenerator[AsyncIterator[bytes]]:
        """Receive a channel's messages, from the moment the block is entered.

        Where the server is away, those of this process, and those of others once it is back.
        """
        async with self._local.listen(channel) as messages:
            self._listeners[channel] += 1
            try:
                await self._begin(channel)
                yield messages
            finally:
                await self._end(channel)

    async def close(self) -> None:
        """Listen no longer."""
        if self._reading is not None:
            await cancel(self._reading)
            self._reading = None

    async def _begin(self, channel: str) -> None:
        confirmed = self._confirmed.setdefault(channel, asyncio.Event())
        if self._reading is None:
            self._reading = start(self._read())
        elif self._subscription is not None and self._listeners[channel] == 1:
            with suppress(Exception):  # the reader sees it too, and subscribes again
                await self._subscription.subscribe(self.name(channel))
        with suppress(TimeoutError):
            async with asyncio.timeout(SUBSCRIBE_TIMEOUT_SECONDS):
                await confirmed.wait()

    async def _end(self, channel: str) -> None:
        self._listeners[channel] -= 1
        if self._listeners[channel]:
            return
        del self._listeners[channel], self._confirmed[channel]
        if self._subscription is not None:
            with suppress(Exception):
                await self._subscription.unsubscribe(self.name(channel))

    async def _read(self) -> None:
        from redis.exceptions import RedisError

        while True:
            try:
                if self._listeners:  # a subscription to nothing is an error
                    async with self._redis().pubsub() as subscription:
                        await self._subscribe(subscription)
                        await self._carry(subscription)
            except Exception as error:  # also one that nobody foresaw: it must not end the reading
                tell = log.debug if isinstance(error, RedisError | OSError) else log.warning
                tell("cache_listening_interrupted", reason=str(error) or type(error).__name__)
                await self._lost()
            finally:
                self._subscription = None
            await asyncio.sleep(RETRY_INTERVAL_SECONDS)

    async def _subscribe(self, subscription: PubSub) -> None:
        """Subscribe to what is listened on, also by those who begin while this takes its time."""
        subscribed: set[str] = set()
        while missing := self._listeners.keys() - subscribed:
            await subscription.subscribe(*map(self.name, missing))
            subscribed |= missing
        self._subscription = subscription  # from here on they subscribe by themselves

    async def _carry(self, subscription: PubSub) -> None:
        is_asked = False
        while True:
            event = await subscription.get_message(timeout=QUIET_SECONDS)
            if event is not None:
                is_asked = False
                await self._take(event)
            elif is_asked:
                raise ConnectionError(f"no answer to a ping within {QUIET_SECONDS:g} s")
            else:
                is_asked = True
                await subscription.ping()

    async def _take(self, event: dict[str, Any]) -> None:
        channel = (event["channel"] or b"").decode().removeprefix(self._prefix)
        if event["type"] == "message":
            await self._local.publish(channel, event["data"])
        elif event["type"] == "subscribe" and channel in self._confirmed:
            self._confirmed[channel].set()
