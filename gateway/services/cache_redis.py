"""The cache in Redis or Valkey, which several replicas share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from gateway.observability.logs import get_logger
from gateway.services.cache import CacheService, CacheUnavailable, not_a_number, positive

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.asyncio.client import PubSub

__all__ = ["RedisCache"]

CONNECT_TIMEOUT_SECONDS = 5
"""Seconds to reach the server."""
RETRY_INTERVAL_SECONDS = 1
"""Seconds between two attempts to listen again."""

log = get_logger(__name__)


class RedisCache(CacheService):
    """Connected at first use; every method raises :class:`CacheUnavailable` without a server.

    Args:
        address: a ``redis://``, ``rediss://`` or ``unix://`` URL.
    """

    def __init__(self, address: str) -> None:
        self._address = address

    @cached_property
    def redis(self) -> Redis:
        """The client, made at first use; it connects when it is first asked."""
        from redis.asyncio import Redis

        return Redis.from_url(
            self._address, socket_connect_timeout=CONNECT_TIMEOUT_SECONDS, health_check_interval=30
        )

    async def get(self, key: str) -> bytes | None:
        """The value, or None where there is none or it has expired."""
        with clear_errors():
            return cast("bytes | None", await self.redis.get(key))

    async def set(self, key: str, value: bytes, ttl: float | None = None) -> None:
        """Store a value, for ``ttl`` seconds or until it is evicted."""
        with clear_errors():
            await self.redis.set(key, value, px=None if ttl is None else _milliseconds(ttl))

    async def delete(self, key: str) -> None:
        """Forget a value; an absent key is not an error."""
        with clear_errors():
            await self.redis.delete(key)

    async def increment(self, key: str, ttl: float) -> int:
        """Add one to a counter that expires ``ttl`` seconds after its first increment.

        Raises:
            ValueError: the key holds something other than a whole number.
        """
        from redis.exceptions import ResponseError

        with clear_errors():
            async with self.redis.pipeline(transaction=True) as both:
                both.set(key, 0, nx=True, px=_milliseconds(ttl))
                both.incr(key)
                try:
                    return int((await both.execute())[1])
                except ResponseError as error:
                    raise not_a_number(key) from error

    async def publish(self, channel: str, message: bytes) -> None:
        """Send a message to everyone who listens on the channel now."""
        with clear_errors():
            await self.redis.publish(channel, message)

    @asynccontextmanager
    async def listen(self, channel: str) -> AsyncGenerator[AsyncIterator[bytes]]:
        """Receive the channel's messages from the moment the block is entered.

        A connection that is lost is made again; what was published meanwhile is missed.
        """
        async with self.redis.pubsub() as subscription:
            with clear_errors():
                await subscription.subscribe(channel)
                # From the server's confirmation on, we are sent what is published.
                await subscription.get_message(timeout=None)
            yield _messages(subscription, channel)

    async def close(self) -> None:
        """Close the connections, if any was opened."""
        if "redis" in self.__dict__:
            await self.redis.aclose()


async def _messages(subscription: PubSub, channel: str) -> AsyncIterator[bytes]:
    from redis.exceptions import RedisError

    event: dict[str, Any]
    while True:
        try:
            async for event in subscription.listen():
                if event["type"] == "message":
                    yield event["data"]
        except RedisError as error:
            log.warning("cache_listening_interrupted", channel=channel, reason=str(error))
            await asyncio.sleep(RETRY_INTERVAL_SECONDS)


@contextmanager
def clear_errors() -> Iterator[None]:
    """Raise what goes wrong with the server as :class:`CacheUnavailable`."""
    from redis.exceptions import RedisError

    try:
        yield
    except RedisError as error:
        raise CacheUnavailable(f"The cache server cannot be used: {error}") from error


def _milliseconds(ttl: float) -> int:
    return max(1, round(positive(ttl) * 1000))
