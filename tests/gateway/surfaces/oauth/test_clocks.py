"""Replicas whose clocks are three seconds apart sign people in together."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from auth.tokens.signing_keys import KEY_PERIOD_S
from tests.gateway.surfaces.oauth.conftest import Client, register
from tests.gateway.surfaces.oauth.surface import Surface, open_surface, query_of

APART = 3.0
LIFETIME = 900


def now() -> float:
    """No time in particular."""
    return 0.0


def edge() -> float:
    """Seconds until one and a half second before the keys change: one replica is past it."""
    return KEY_PERIOD_S - time.time() % KEY_PERIOD_S - APART / 2


@asynccontextmanager
async def replicas(directory: Path, ahead: float) -> AsyncIterator[tuple[Surface, Surface]]:
    async with AsyncExitStack() as stack:
        slow, fast = [await stack.enter_async_context(open_surface(directory)) for _ in range(2)]
        slow.clock.ahead, fast.clock.ahead = ahead, ahead + APART
        yield slow, fast


@pytest.mark.parametrize("fast_first", [True, False])
@pytest.mark.parametrize("ahead", [now, edge])
async def test_each_step_may_be_at_the_replica_with_the_other_clock(
    tmp_path: Path, ahead: Callable[[], float], fast_first: bool
) -> None:
    async with replicas(tmp_path, ahead()) as (slow, fast):
        here, there = (fast, slow) if fast_first else (slow, fast)
        async with here.browser() as first, there.browser() as second:
            client = await register(first)
            consent = await client.authorize()
            answer = await second.get(consent.headers["location"])
            code = query_of(answer.headers["location"])["code"]
            tokens = (await client.exchange(code)).json()
            await good_at(tokens["access_token"], first, second)
            client.http = second
            renewed = (await client.refresh(tokens["refresh_token"])).json()
            await good_at(renewed["access_token"], first, second)
            await published(tokens["access_token"], first, second)


async def test_a_token_ends_at_both_within_the_difference(tmp_path: Path) -> None:
    async with replicas(tmp_path, 0) as (slow, fast):
        async with slow.browser() as first, fast.browser() as second:
            token = (await (await register(first)).sign_in())["access_token"]
            # A few seconds of grace, so that neither refuses what the other has just issued.
            for each in (slow, fast):
                each.clock.ahead += LIFETIME + 2 * APART
            assert [await status(each, token) for each in (first, second)] == [401, 401]


async def good_at(token: str, *browsers: httpx2.AsyncClient) -> None:
    assert [await status(each, token) for each in browsers] == [200] * len(browsers)


async def status(browser: httpx2.AsyncClient, token: str) -> int:
    return (await Client(browser, "").use(token)).status_code


async def published(token: str, *browsers: httpx2.AsyncClient) -> None:
    """Whichever replica is asked for the keys, the one that signed is among them."""
    import jwt

    kid = jwt.get_unverified_header(token)["kid"]
    for each in browsers:
        keys = (await each.get("/.well-known/jwks.json")).json()["keys"]
        assert kid in {key["kid"] for key in keys}
