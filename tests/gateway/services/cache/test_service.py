"""The cache port over memory and Redis; then the bounds of the one in memory."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from redis.asyncio import Redis

from gateway.contract.services import Cache
from gateway.services.cache.address import open_cache
from gateway.services.cache.memory import BACKLOG_MESSAGES, ENTRY_OVERHEAD_BYTES, MemoryCache
from gateway.services.cache.redis import RedisCache
from gateway.services.cache.service import CacheUnavailable
from tests.examples import examples

T = TypeVar("T")


@pytest.fixture(params=["memory", "redis"])
async def cache(request: pytest.FixtureRequest) -> AsyncIterator[Cache]:
    """Each implementation, in a share of its own."""
    service = open_cache(
        "memory" if request.param == "memory" else request.getfixturevalue("redis_url")
    )
    yield service.scoped(f"test-{uuid.uuid4().hex}")
    await service.close()


async def until_gone(cache: Cache, key: str) -> None:
    async with asyncio.timeout(60):
        while True:
            if await cache.get(key) is None:
                return
            await asyncio.sleep(0.005)


async def test_a_value_is_kept_replaced_and_forgotten(cache: Cache) -> None:
    assert await cache.get("key") is None
    await cache.set("key", b"\x00one")
    await cache.set("key", b"two")
    assert await cache.get("key") == b"two"
    await cache.delete("key")
    await cache.delete("key")
    assert await cache.get("key") is None


async def test_a_value_expires_and_a_new_one_without_limit_stays(cache: Cache) -> None:
    await cache.set("key", b"brief", ttl=0.05)
    await until_gone(cache, "key")
    await cache.set("key", b"brief", ttl=30)
    await cache.set("key", b"lasting")
    assert await cache.get("key") == b"lasting"


async def test_a_counter_counts_and_expires_from_its_first_increment(cache: Cache) -> None:
    assert [await cache.increment("hits", ttl=60) for _ in range(3)] == [1, 2, 3]
    assert await cache.get("hits") == b"3"
    assert await cache.increment("brief", ttl=0.05) == 1
    await cache.increment("brief", ttl=3600)
    await until_gone(cache, "brief")
    assert await cache.increment("brief", ttl=60) == 1


async def test_concurrent_increments_lose_none(cache: Cache) -> None:
    counts = await asyncio.gather(*(cache.increment("hits", ttl=60) for _ in range(50)))
    assert sorted(counts) == list(range(1, 51))


async def test_counting_up_from_text_is_refused_and_the_text_stays(cache: Cache) -> None:
    await cache.set("key", b"text")
    with pytest.raises(ValueError, match="holds no whole number"):
        await cache.increment("key", ttl=60)
    assert await cache.get("key") == b"text"


@pytest.mark.parametrize("ttl", [0, -1])
async def test_a_time_to_live_of_nothing_is_refused(cache: Cache, ttl: float) -> None:
    with pytest.raises(ValueError, match="more than 0 seconds"):
        await cache.set("key", b"1", ttl)
    with pytest.raises(ValueError, match="more than 0 seconds"):
        await cache.increment("key", ttl)


async def test_listeners_hear_their_channel_from_the_moment_they_listen(cache: Cache) -> None:
    await cache.publish("news", b"too early")
    async with cache.listen("news") as first, cache.listen("news") as second:
        await cache.publish("other", b"elsewhere")
        for number in range(3):
            await cache.publish("news", b"%d" % number)
        async with asyncio.timeout(60):
            for listener in (first, second):
                assert [await anext(listener) for _ in range(3)] == [b"0", b"1", b"2"]
    await cache.publish("news", b"nobody listens")


@pytest.mark.parametrize("kind", ["memory", "redis"])
async def test_two_owners_never_meet(kind: str, request: pytest.FixtureRequest) -> None:
    service = open_cache("memory" if kind == "memory" else request.getfixturevalue("redis_url"))
    run = uuid.uuid4().hex
    mine, other = service.scoped(f"{run}-a"), service.scoped(f"{run}-ab")
    await mine.set("key", b"mine")
    await other.set("key", b"other")
    async with mine.listen("news") as heard:
        await other.publish("news", b"other")
        await mine.publish("news", b"mine")
        async with asyncio.timeout(60):
            assert await anext(heard) == b"mine"
    await other.delete("key")
    assert await mine.get("key") == b"mine"
    await service.close()


async def test_listening_goes_on_after_the_server_drops_the_connection(redis_url: str) -> None:
    name = f"test-{uuid.uuid4().hex}"
    service = open_cache(f"{redis_url}?client_name={name}")
    assert isinstance(service, RedisCache)
    async with service.listen(name) as listener, Redis.from_url(redis_url) as admin:
        clients = await admin.client_list("pubsub")
        (ours,) = [client["id"] for client in clients if client["name"] == name]
        await admin.client_kill_filter(_id=ours)
        heard = asyncio.ensure_future(anext(listener))
        async with asyncio.timeout(60):
            while not heard.done():
                await service.publish(name, b"still there?")
                await asyncio.wait({heard}, timeout=0.05)
        assert heard.result() == b"still there?"
    await service.close()


async def test_a_server_that_is_not_there_is_a_clear_error_without_secrets(
    free_tcp_port: int,
) -> None:
    service = open_cache(f"redis://porch:the-password@127.0.0.1:{free_tcp_port}")
    with pytest.raises(CacheUnavailable, match=f"{free_tcp_port}") as raised:
        await service.ready()
    assert "the-password" not in str(raised.value)
    await service.get("key")
    (notice,) = service.notices()
    assert f"The cache server at 127.0.0.1:{free_tcp_port} has not answered for" in notice
    assert "the-password" not in notice
    await service.close()


@pytest.mark.parametrize("prefix", ["", "a:b"])
def test_a_prefix_that_could_meet_another_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="without ':'"):
        MemoryCache().scoped(prefix)


def test_an_unknown_address_names_what_is_possible() -> None:
    with pytest.raises(ValueError, match="'memory' or a redis://"):
        open_cache("memcached://127.0.0.1")


async def test_a_slow_listener_loses_the_oldest_messages_only() -> None:
    cache = MemoryCache()
    async with cache.listen("news") as listener:
        for number in range(BACKLOG_MESSAGES + 2):
            await cache.publish("news", b"%d" % number)
        assert await anext(listener) == b"2"


async def test_the_least_recently_used_entry_makes_room() -> None:
    cache = MemoryCache(max_bytes=2 * (ENTRY_OVERHEAD_BYTES + 11))
    await cache.set("a", b"x" * 10)
    await cache.set("b", b"x" * 10)
    assert await cache.get("a") is not None
    await cache.set("c", b"x" * 10)
    assert await cache.get("b") is None
    assert await cache.get("a") is not None
    await cache.set("huge", b"x" * 1000)
    assert await cache.get("huge") is None


keys = st.sampled_from(["a", "b", "c"])


class MemoryCacheModel(RuleBasedStateMachine):
    """The cache in memory against a dictionary of values and their last moments."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.cache = MemoryCache(clock=lambda: self.now)
        self.model: dict[str, tuple[bytes, float]] = {}

    @rule(key=keys, value=st.binary(max_size=8), ttl=st.one_of(st.none(), st.floats(0.1, 9)))
    def set(self, key: str, value: bytes, ttl: float | None) -> None:
        run(self.cache.set(key, value, ttl))
        self.model[key] = (value, self.now + (ttl or float("inf")))

    @rule(key=keys)
    def delete(self, key: str) -> None:
        run(self.cache.delete(key))
        self.model.pop(key, None)

    @rule(key=st.just("counter"), ttl=st.floats(0.1, 9))
    def increment(self, key: str, ttl: float) -> None:
        value, expires = self.model.get(key, (b"0", self.now + ttl))
        self.model[key] = (b"%d" % (int(value) + 1), expires)
        assert run(self.cache.increment(key, ttl)) == int(value) + 1

    @rule(seconds=st.floats(0, 5))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.model = {key: entry for key, entry in self.model.items() if entry[1] > self.now}

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        for key in ("a", "b", "c", "counter"):
            assert run(self.cache.get(key)) == self.model.get(key, (None,))[0]


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Finish a coroutine that never waits, as all of the memory cache's are."""
    try:
        coroutine.send(None)
    except StopIteration as finished:
        return cast(T, finished.value)
    raise AssertionError("the memory cache waited")


TestTheMemoryCacheBehavesLikeADictionaryWithAClock = MemoryCacheModel.TestCase
TestTheMemoryCacheBehavesLikeADictionaryWithAClock.settings = settings(
    max_examples=examples(60), deadline=None
)
