"""Sliding windows over memory and Redis: what each lets through is what a model lets through."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from gateway.limits.shared_windows import open_windows
from gateway.limits.sliding_window import MemoryWindows, Rate, Taken, Windows
from gateway.limits.sliding_window_redis import RedisWindows
from gateway.services.cache.address import open_cache
from gateway.services.cache.memory import MemoryCache
from gateway.services.cache.service import CacheUnavailable
from tests.examples import examples


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


Made = Callable[[Clock | None], Windows]


@pytest.fixture(params=["memory", "redis"])
async def make(request: pytest.FixtureRequest) -> AsyncIterator[Made]:
    """Makes windows of each kind; those of Redis share a server."""
    if request.param == "memory":
        yield lambda clock: MemoryWindows(clock) if clock else MemoryWindows()
        return
    redis = Redis.from_url(request.getfixturevalue("redis_url"))
    yield lambda clock: RedisWindows(lambda: redis, clock)
    await redis.aclose()


def of_its_own(*rates: Rate) -> tuple[Rate, ...]:
    """The rates under names that no other test uses."""
    mark = uuid.uuid4().hex
    return tuple(rate._replace(name=f"test-{mark}-{rate.name}") for rate in rates)


class Model:
    """Sliding windows, written the simplest way."""

    def __init__(self) -> None:
        self.times: list[tuple[str, float]] = []

    def take(self, key: str, rates: tuple[Rate, ...], now: float) -> tuple[float, int]:
        waits, left = [0.0], []
        for rate in rates:
            within = [at for who, at in self.times if who == key and at + rate.seconds > now]
            left.append(rate.limit - len(within))
            if len(within) >= rate.limit:
                waits.append(within[-rate.limit] + rate.seconds - now)
        if max(waits) > 0:
            return max(waits), 0
        self.times.append((key, now))
        return 0.0, min(left) - 1


SPANS = st.integers(1, 12).map(float)
RATES = st.lists(st.tuples(st.integers(1, 5), SPANS), min_size=1, max_size=2)
STEPS = st.lists(st.tuples(st.integers(0, 6), st.sampled_from("ab")), max_size=40)


@pytest.mark.parametrize("kind", ["memory", "redis"])
def test_what_is_let_through_and_how_long_to_wait_is_exact(
    kind: str, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("redis_url") if kind == "redis" else ""

    @settings(max_examples=examples(60), deadline=None)
    @given(given_rates=RATES, steps=STEPS)
    def check(given_rates: list[tuple[int, float]], steps: list[tuple[int, str]]) -> None:
        asyncio.run(follow(url, given_rates, steps))

    check()


async def follow(
    url: str, given_rates: list[tuple[int, float]], steps: list[tuple[int, str]]
) -> None:
    clock, model = Clock(), Model()
    redis = Redis.from_url(url) if url else None
    windows: Windows = RedisWindows(lambda: redis, clock) if redis else MemoryWindows(clock)
    rates = of_its_own(*(Rate(str(n), *each) for n, each in enumerate(given_rates)))
    for step, key in steps:
        clock.now += step
        taken = await windows.take(key, rates)
        assert (taken.wait_seconds, taken.left) == model.take(key, rates, clock.now)
        assert taken.rate in rates
    if redis:
        await redis.aclose()


async def test_of_many_at_once_as_many_are_let_through_as_may_be(make: Made) -> None:
    windows = make(None)
    (rate,) = of_its_own(Rate("calls", 20, 300.0))
    taken = await asyncio.gather(*(windows.take("ana", [rate]) for _ in range(60)))
    assert sorted(each.left for each in taken if not each.wait_seconds) == list(range(20))
    assert all(295 < each.wait_seconds <= 300 for each in taken if each.wait_seconds)


async def test_where_one_rate_says_no_the_others_do_not_count(make: Made) -> None:
    windows = make(None)
    calls, tool = of_its_own(Rate("calls", 3, 300.0), Rate("tool", 1, 300.0))
    assert not (await windows.take("ana", [calls, tool])).wait_seconds
    for _ in range(5):
        assert (await windows.take("ana", [calls, tool])).rate == tool
    assert (await windows.take("ana", [calls])).left == 1


async def test_keys_do_not_share_their_times(make: Made) -> None:
    windows = make(None)
    (rate,) = of_its_own(Rate("calls", 1, 300.0))
    assert not (await windows.take("ana", [rate])).wait_seconds
    assert not (await windows.take("ben", [rate])).wait_seconds
    assert (await windows.take("ana", [rate])).wait_seconds


async def test_whoever_waits_is_let_in_again(make: Made) -> None:
    windows = make(None)
    (rate,) = of_its_own(Rate("calls", 1, 0.05))
    await windows.take("ana", [rate])
    async with asyncio.timeout(60):
        while wait := (await windows.take("ana", [rate])).wait_seconds:
            assert wait <= 0.05
            await asyncio.sleep(wait)


PROCESS = """
import asyncio, sys
from redis.asyncio import Redis
from gateway.limits.sliding_window import Rate
from gateway.limits.sliding_window_redis import RedisWindows

async def main():
    redis = Redis.from_url(sys.argv[1])
    windows, rate = RedisWindows(lambda: redis), Rate(sys.argv[2], 50, 300.0)
    taken = await asyncio.gather(*(windows.take("ana", [rate]) for _ in range(60)))
    print(sum(1 for each in taken if not each.wait_seconds))
    await redis.aclose()

asyncio.run(main())
"""


def test_processes_count_together_on_a_server(redis_url: str) -> None:
    (rate,) = of_its_own(Rate("calls", 50, 300.0))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, redis_url, rate.name], stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    allowed = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert sum(allowed) == 50


async def test_what_is_kept_on_a_server_goes_away_by_itself(redis_url: str) -> None:
    redis: Any = Redis.from_url(redis_url)
    (rate,) = of_its_own(Rate("calls", 5, 2.0))
    await RedisWindows(lambda: redis).take("ana", [rate])
    (key,) = [each async for each in redis.scan_iter(f"*{rate.name}*")]
    assert 0 < await redis.pttl(key) <= 3_000
    await redis.aclose()


async def test_a_cache_says_where_its_windows_are(redis_url: str) -> None:
    assert isinstance(open_windows(MemoryCache()), MemoryWindows)
    cache = open_cache(redis_url)
    (rate,) = of_its_own(Rate("calls", 2, 300.0))
    assert await open_windows(cache).take("ana", [rate]) == Taken(rate, 0.0, 1)
    assert await open_windows(cache).take("ana", [rate]) == Taken(rate, 0.0, 0)
    await cache.close()


async def test_without_its_server_it_says_so() -> None:
    cache = open_cache("redis://127.0.0.1:1/0")
    with pytest.raises(CacheUnavailable):
        await open_windows(cache).take("ana", [Rate("calls", 1, 60.0)])
    await cache.close()
