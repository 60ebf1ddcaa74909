"""The cache in Redis or Valkey, which several replicas share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from gateway.observability.notices import CACHE_AWAY
from gateway.services.breaker import Breaker, Server
from gateway.services.cache.channels import Channels
from gateway.services.cache.memory import MemoryCache
from gateway.services.cache.service import CacheService, CacheUnavailable, not_a_number, positive
from gateway.services.patience import patience

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ["RedisCache"]

TIMEOUT_SECONDS = 1.0
"""Seconds that the server has for an answer, connecting included. One that takes longer slows
every call, and counts as away."""
_STATES = ("MISCONF", "MASTERDOWN", "CLUSTERDOWN", "NOREPLICAS", "LOADING", "NOAUTH", "BUSY ")
"""Codes of a server that serves nobody at the moment; its client has no classes for them."""
START_TIMEOUT_SECONDS = 15.0
"""Seconds that the server has for its first answer. A portal that starts on a busy machine has
little of the processor, and its own waiting is counted here too."""

T = TypeVar("T")


class RedisCache(CacheService):
    """Connected at first use.

    While the server is away, this process keeps everything for itself, as a cache in memory does:
    no call fails or waits. What it kept meanwhile goes to the server when that answers again.

    Args:
        address: a ``redis://``, ``rediss://`` or ``unix://`` URL.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._alone = MemoryCache()

    @cached_property
    def redis(self) -> Redis:
        """The client, made at first use; it connects when it is first asked."""
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        return Redis.from_url(
            self._address,
            socket_connect_timeout=TIMEOUT_SECONDS,
            health_check_interval=30,
            # At once, for a connection that the server has closed; more would only keep waiting.
            retry=Retry(NoBackoff(), 1),
        )

    @cached_property
    def breaker(self) -> Breaker:
        """Lets nobody wait for a server that is away."""
        from redis.exceptions import ConnectionError, TimeoutError

        settings = self.redis.connection_pool.connection_kwargs
        place = settings.get("path") or f"{settings.get('host')}:{settings.get('port', 6379)}"
        server = Server(
            name=f"{CACHE_AWAY} {place}",
            probe=self._probe,
            errors=(ConnectionError, TimeoutError, OSError),
            unavailable=_unavailable,
            timeout_seconds=TIMEOUT_SECONDS,
            meanwhile="each process counts and remembers for itself meanwhile.",
        )
        return Breaker(server, self._catch_up)

    @cached_property
    def _channels(self) -> Channels:
        # The server has one space of channels for all its databases.
        database = self.redis.connection_pool.connection_kwargs.get("db") or 0
        return Channels(lambda: self.redis, f"porch:{database}:", self._alone, self._look)

    async def ready(self) -> None:
        """As in the port."""
        _ = self.redis  # to import its client takes a while, and is no fault of the server's
        try:
            async with asyncio.timeout(START_TIMEOUT_SECONDS):
                await asked_plainly(self._probe)
        except TimeoutError:
            raise _unavailable(f"no answer within {START_TIMEOUT_SECONDS:g} s") from None

    async def ask(self, question: Callable[[], Awaitable[T]]) -> T:
        """What the server answers to a question of the client's.

        Raises:
            CacheUnavailable: it is away, or refuses.
        """
        with _clear_errors():
            return await self.breaker.ask(lambda: _served(question))

    def connections(self) -> Mapping[str, int]:
        """The connections that are ``used`` now, and those that are ``idle``."""
        if "redis" not in self.__dict__:
            return {"used": 0, "idle": 0}
        pool: Any = self.redis.connection_pool
        return {
            "used": len(pool._in_use_connections),
            "idle": len(pool._available_connections),
        }

    async def get(self, key: str) -> bytes | None:
        """The value, or None where there is none or it has expired."""
        return await self._ask(
            lambda: cast("Awaitable[bytes | None]", self.redis.get(key)),
            lambda: self._alone.get(key),
        )

    async def set(self, key: str, value: bytes, ttl: float | None = None) -> None:
        """Store a value, for ``ttl`` seconds or until it is evicted."""
        expiry = None if ttl is None else _milliseconds(ttl)
        await self._ask(
            lambda: self.redis.set(key, value, px=expiry),
            lambda: self._alone.set(key, value, ttl),
        )

    async def delete(self, key: str) -> None:
        """Forget a value; an absent key is not an error."""
        await self._ask(lambda: self.redis.delete(key), lambda: self._alone.delete(key))

    async def increment(self, key: str, ttl: float) -> int:
        """Add one to a counter that expires ``ttl`` seconds after its first increment.

        Raises:
            ValueError: the key holds something other than a whole number.
        """
        return await self._ask(
            lambda: self._incremented(key, _milliseconds(ttl)),
            lambda: self._alone.increment(key, ttl),
        )

    async def publish(self, channel: str, message: bytes) -> None:
        """Send a message to everyone who listens on the channel now; here, if need be alone."""
        await self._ask(
            lambda: self.redis.publish(self._channels.name(channel), message),
            lambda: self._alone.publish(channel, message),
        )

    def listen(self, channel: str) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Receive the channel's messages from the moment the block is entered.

        A connection that is lost is made again; what was published meanwhile is missed.
        """
        return self._channels.listen(channel)

    def notices(self) -> Iterable[str]:
        """As in the port."""
        return self.breaker.notices()

    async def close(self) -> None:
        """Close the connections, if any was opened."""
        if "_channels" in self.__dict__:
            await self._channels.close()
        if "breaker" in self.__dict__:
            await self.breaker.close()
        if "redis" in self.__dict__:
            await self.redis.aclose()

    async def _ask(
        self, question: Callable[[], Awaitable[Any]], alone: Callable[[], Awaitable[T]]
    ) -> T:
        if not self.breaker.is_open:
            try:
                return cast(T, await self.ask(question))
            except CacheUnavailable:
                if not self.breaker.is_open:  # it refuses
                    raise
        return await alone()

    async def _look(self) -> None:
        """Find out whether the server is away, where nobody knows of it yet."""
        with suppress(CacheUnavailable):
            await self.ask(self._probe)

    async def _probe(self) -> None:
        """See that the server is there, and takes what is written."""
        await _served(lambda: self.redis.set("porch:probe", b"1", px=1000))

    async def _incremented(self, key: str, milliseconds: int) -> int:
        from redis.exceptions import ResponseError

        async with self.redis.pipeline(transaction=True) as both:
            both.set(key, 0, nx=True, px=milliseconds)
            both.incr(key)
            try:
                return int((await both.execute())[1])
            except ResponseError as error:
                if "not an integer" not in str(error):
                    raise
                raise not_a_number(key) from error

    async def _catch_up(self) -> None:
        """Bring to the server what was kept here while it was away."""
        while (entry := self._alone.oldest()) is not None:
            key, value, ttl = entry
            async with patience(TIMEOUT_SECONDS):
                await self.redis.set(key, value, px=None if ttl is None else _milliseconds(ttl))
            if await self._alone.get(key) == value:  # nothing newer was kept meanwhile
                await self._alone.delete(key)


async def _served(question: Callable[[], Awaitable[T]]) -> T:
    """What the server answers; one that serves nobody at the moment is away, whatever it says."""
    from redis import exceptions

    try:
        return await question()
    except exceptions.ResponseError as error:
        states = (
            exceptions.ReadOnlyError,
            exceptions.OutOfMemoryError,
            exceptions.NoPermissionError,
            exceptions.ExecAbortError,
        )
        if isinstance(error, states) or str(error).startswith(_STATES):
            raise exceptions.ConnectionError(str(error)) from error
        raise


def _unavailable(why: str) -> CacheUnavailable:
    return CacheUnavailable(f"The cache server cannot be used: {why}")


async def asked_plainly(question: Callable[[], Awaitable[T]]) -> T:
    """What the server answers, however long it takes.

    Raises:
        CacheUnavailable: it is away, or refuses.
    """
    with _clear_errors():
        return await question()


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Raise what goes wrong with the server as :class:`CacheUnavailable`."""
    from redis.exceptions import RedisError

    try:
        yield
    except RedisError as error:
        raise _unavailable(str(error)) from error


def _milliseconds(ttl: float) -> int:
    return max(1, round(positive(ttl) * 1000))
