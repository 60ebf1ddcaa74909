"""The cache while its server is cut off, slow or silent: no call fails, and none waits for long."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import ConnectionError, ResponseError

from gateway.limits.shared_windows import open_windows
from gateway.limits.sliding_window import MemoryWindows, Rate
from gateway.services.cache.redis import TIMEOUT_SECONDS, RedisCache, _served
from gateway.services.cache.service import CacheUnavailable
from gateway.toolkit.background import background
from tests.servers.cable import Cable, cabled

Fault = Callable[[Cable], None]
PATIENCE = 60.0


def slow(line: Cable) -> None:
    line.delay_seconds = 4 * TIMEOUT_SECONDS


def mend(line: Cable) -> None:
    line.delay_seconds = 0.0
    line.join()
    line.thaw()


FAULTS = [
    pytest.param(Cable.cut, id="cut"),
    pytest.param(Cable.freeze, id="silent"),
    pytest.param(slow, id="slow"),
]


@pytest.fixture
def line(redis_url: str) -> Iterator[Cable]:
    with cabled(redis_url) as cable:
        yield cable


@pytest.fixture
async def cache(line: Cable) -> AsyncIterator[RedisCache]:
    service = RedisCache(line.url)
    await service.ready()
    yield service
    mend(line)
    await service.close()


@pytest.fixture
def key() -> str:
    return f"test-{uuid.uuid4().hex}"


async def until_back(cache: RedisCache) -> None:
    async with asyncio.timeout(PATIENCE):
        while cache.breaker.is_open:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_is_kept_while_the_server_is_away_is_there_and_comes_to_it_later(
    cache: RedisCache, line: Cable, key: str, redis_url: str, fault: Fault
) -> None:
    await cache.set(f"{key}-before", b"1")
    fault(line)
    await cache.set(key, b"kept", ttl=60)
    assert await cache.get(key) == b"kept"
    assert await cache.get(f"{key}-before") is None
    assert [await cache.increment(f"{key}-count", 60) for _ in range(2)] == [1, 2]
    await cache.set(f"{key}-gone", b"1", ttl=60)
    await cache.delete(f"{key}-gone")
    (notice,) = cache.notices()
    assert "each process counts and remembers for itself" in notice
    mend(line)
    await until_back(cache)
    assert list(cache.notices()) == []
    assert await cache.get(f"{key}-before") == b"1"
    async with Redis.from_url(redis_url) as server:
        assert await server.get(key) == b"kept"
        assert 0 < await server.ttl(key) <= 60
        assert await server.get(f"{key}-count") == b"2"
        assert await server.get(f"{key}-gone") is None
        await server.delete(f"{key}-before")


@pytest.mark.parametrize("fault", FAULTS)
async def test_only_the_first_call_waits_for_a_server_that_is_away(
    cache: RedisCache, line: Cable, key: str, fault: Fault
) -> None:
    fault(line)
    await cache.get(key)
    asked = []
    ask = cache.breaker.ask
    cache.breaker.ask = lambda question: asked.append(question) or ask(question)  # type: ignore
    for _ in range(100):
        await cache.get(key)
    assert asked == []


async def test_a_server_that_is_away_is_known_to_be_before_any_call_asks_it(
    cache: RedisCache, line: Cable, key: str
) -> None:
    async with cache.listen(key):
        line.cut()
        async with asyncio.timeout(PATIENCE):
            while not list(cache.notices()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def test_limits_are_counted_alone_without_a_wait(
    cache: RedisCache, line: Cable, key: str
) -> None:
    windows = open_windows(cache)
    assert not isinstance(windows, MemoryWindows)
    line.freeze()
    for _ in range(2):
        with pytest.raises(CacheUnavailable):
            await windows.take(key, [Rate("calls", 5, 60.0)])
    assert cache.breaker.is_open


async def test_a_refusal_is_no_outage(cache: RedisCache, key: str) -> None:
    async with cache.redis.client() as server:
        await server.rpush(key, b"a list")
    try:
        with pytest.raises(CacheUnavailable, match="WRONGTYPE"):
            await cache.get(key)
        assert not cache.breaker.is_open
    finally:
        await cache.redis.delete(key)


async def test_a_server_that_takes_no_writes_is_away_until_it_does(
    redis_url: str, key: str
) -> None:
    async with Redis.from_url(redis_url) as admin:
        rights: dict[str, Any] = {
            "keys": ["*"],
            "channels": ["*"],
            "enabled": True,
            "passwords": ["+pass"],
        }
        await admin.acl_setuser(key, categories=["+@all"], **rights)
        at = urlsplit(redis_url)
        cache = RedisCache(at._replace(netloc=f"{key}:pass@{at.netloc}").geturl())
        try:
            await cache.ready()
            await cache.set(f"{key}-before", b"1", ttl=60)
            await admin.acl_setuser(key, categories=["-@write"], **rights)
            await cache.set(key, b"kept", ttl=60)
            assert await cache.get(key) == b"kept"
            assert await cache.increment(f"{key}-count", 60) == 1
            assert cache.breaker.is_open
            await admin.acl_setuser(key, categories=["+@all"], **rights)
            await until_back(cache)
            assert await admin.get(key) == b"kept"
            assert await cache.get(f"{key}-before") == b"1"
        finally:
            await cache.close()
            await admin.acl_deluser(key)


@pytest.mark.parametrize("fault", FAULTS[:2])
async def test_listeners_hear_their_own_process_meanwhile_and_all_others_later(
    cache: RedisCache, line: Cable, key: str, redis_url: str, fault: Fault
) -> None:
    other = RedisCache(redis_url)
    async with cache.listen(key) as heard:
        await other.publish(key, b"before")
        assert await anext(heard) == b"before"
        fault(line)
        await cache.get(key)
        await cache.publish(key, b"alone")
        assert await anext(heard) == b"alone"
        mend(line)
        await until_back(cache)
        later = asyncio.ensure_future(anext(heard))
        async with asyncio.timeout(PATIENCE):
            while not later.done():
                await other.publish(key, b"later")
                await asyncio.wait({later}, timeout=0.1)
        assert later.result() == b"later"
    await other.close()


async def test_who_begins_to_listen_while_the_server_is_away_hears_it_later(
    cache: RedisCache, line: Cable, key: str, redis_url: str
) -> None:
    line.cut()
    other = RedisCache(redis_url)
    async with cache.listen(key) as heard:
        mend(line)
        later = asyncio.ensure_future(anext(heard))
        async with asyncio.timeout(PATIENCE):
            while not later.done():
                await other.publish(key, b"later")
                await asyncio.wait({later}, timeout=0.1)
        assert later.result() == b"later"
    await other.close()


async def test_who_begins_to_listen_while_the_connection_is_made_again_hears_it_later(
    cache: RedisCache, line: Cable, key: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    subscribing, go_on = asyncio.Event(), asyncio.Event()
    subscribe = PubSub.subscribe

    async def slowly(self: PubSub, *names: Any) -> None:
        subscribing.set()
        await go_on.wait()
        await subscribe(self, *names)

    monkeypatch.setattr(PubSub, "subscribe", slowly)
    other = RedisCache(redis_url)

    async def first() -> None:
        async with cache.listen(f"{key}-first"):
            await asyncio.Event().wait()

    async with background(first()), asyncio.timeout(PATIENCE):
        await subscribing.wait()
        listening = cache.listen(key)
        entered = asyncio.ensure_future(listening.__aenter__())
        await asyncio.sleep(0)
        go_on.set()
        heard = await entered
        later = asyncio.ensure_future(anext(heard))
        while not later.done():
            await other.publish(key, b"later")
            await asyncio.wait({later}, timeout=0.1)
        assert later.result() == b"later"
        await listening.__aexit__(None, None, None)
    await other.close()


async def test_a_server_that_is_busy_with_a_script_is_away_until_it_has_ended() -> None:
    async def busy() -> None:
        raise ResponseError("BUSY Redis is busy running a script.")

    with pytest.raises(ConnectionError, match="BUSY"):
        await _served(busy)


async def test_portals_with_databases_of_their_own_on_one_server_do_not_hear_each_other(
    redis_url: str, key: str
) -> None:
    at = urlsplit(redis_url)
    ours, theirs = (RedisCache(at._replace(path=f"/{number}").geturl()) for number in (14, 15))
    async with ours.listen(key) as heard:
        await theirs.publish(key, b"theirs")
        await ours.publish(key, b"ours")
        async with asyncio.timeout(PATIENCE):
            assert await anext(heard) == b"ours"
    for each in (ours, theirs):
        await each.close()


async def test_a_line_that_is_quiet_and_alive_is_kept(
    cache: RedisCache, line: Cable, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "gateway.services.cache.channels.QUIET_SECONDS", 2.0
    )  # a busy machine answers later
    async with cache.listen(key) as heard:
        async with Redis.from_url(cache._address) as admin:
            before = await admin.client_list("pubsub")
            await asyncio.sleep(5)  # it is asked twice
            after = await admin.client_list("pubsub")
        ours = {each["id"] for each in before if each["addr"] in line.addresses()}
        assert ours
        assert ours <= {each["id"] for each in after}
        await cache.publish(key, b"heard")
        assert await anext(heard) == b"heard"
