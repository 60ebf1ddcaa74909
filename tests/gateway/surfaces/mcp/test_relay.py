"""Answers and cancellations that reach another replica than the one that runs the call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from auth import ANONYMOUS
from auth.sealer import Sealer
from gateway.contract import Cache
from gateway.surfaces.mcp.relay import MAX_ID_CHARACTERS, Relay, _answers
from gateway.surfaces.mcp.sessions import Session, Sessions
from gateway.toolkit.background import background

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
PAUSE = 0.3


@pytest.fixture
async def pair(cache: Cache) -> AsyncIterator[tuple[Relay, Relay]]:
    """Two replicas that listen."""
    first, second = Relay(KEY, cache), Relay(KEY, cache)
    async with background(first.listen(), second.listen()):
        for runs, hears in ((first, second), (second, first)):
            await _listens(runs, hears, cache)
        yield first, second


async def _listens(runs: Relay, hears: Relay, cache: Cache) -> None:
    """Wait until a replica hears of answers and of cancellations from the other."""
    client = session(cache)

    async def work() -> None:
        with runs.request(client, "first"):
            await asyncio.Event().wait()

    cancelled = asyncio.create_task(work())
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        with runs.question(client) as (number, answer):
            while not (answer.done() and cancelled.done()):
                await hears.take(client, answer_to(number))
                await hears.take(client, cancellation("first"))
                await asyncio.sleep(0.02)


def session(cache: Cache) -> Session:
    return Sessions(KEY, cache).begin(ANONYMOUS, "2025-11-25", {})


def answer_to(number: str, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def cancellation(request_id: Any) -> dict[str, Any]:
    params = {"requestId": request_id}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


async def test_an_answer_finds_the_replica_that_asked(
    pair: tuple[Relay, Relay], cache: Cache
) -> None:
    asks, hears = pair
    client = session(cache)
    with asks.question(client) as (number, answer):
        await hears.take(client, answer_to(number, yes=True))
        async with asyncio.timeout(60):
            assert (await answer)["result"] == {"yes": True}


async def test_questions_of_two_replicas_to_one_client_are_told_apart(
    pair: tuple[Relay, Relay], cache: Cache
) -> None:
    first, second = pair
    client = session(cache)
    with first.question(client) as (one, of_first), second.question(client) as (two, of_second):
        assert one != two
        await first.take(client, answer_to(two, of="second"))
        await second.take(client, answer_to(one, of="first"))
        async with asyncio.timeout(60):
            assert (await of_first)["result"] == {"of": "first"}
            assert (await of_second)["result"] == {"of": "second"}


@pytest.mark.parametrize("request_id", [7, "seven"])
async def test_a_cancellation_finds_the_replica_that_runs_the_request(
    pair: tuple[Relay, Relay], cache: Cache, request_id: str | int
) -> None:
    runs, hears = pair
    client, other = session(cache), session(cache)

    async def work() -> None:
        with runs.request(client, request_id):
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    await hears.take(other, cancellation(request_id))
    await hears.take(client, cancellation(8))
    await asyncio.sleep(PAUSE)
    assert not task.done(), "another client's, or another request"
    await hears.take(client, cancellation(request_id))
    async with asyncio.timeout(60):
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_nobody_answers_for_another_session_or_without_the_key(
    pair: tuple[Relay, Relay], cache: Cache
) -> None:
    asks, hears = pair
    client, other = session(cache), session(cache)
    with asks.question(client) as (number, answer):
        channel = _answers(number.split("-")[1])
        await hears.take(other, answer_to(number, by="another"))
        await asks.take(other, answer_to(number, by="another"))
        forged = {"s": client.mark, "m": answer_to(number, by="whoever")}
        for text in (
            Sealer(OTHER_KEY, "mcp-relay").seal(forged, 60, channel),
            Sealer(KEY, "mcp-relay").seal(forged, 60, "mcp-cancellations"),
            Sealer(KEY, "mcp-relay").seal(forged, -60, channel),
            "nonsense",
            "\udcff",
        ):
            await cache.publish(channel, text.encode("utf-8", "surrogateescape"))
        await asyncio.sleep(PAUSE)
        assert not answer.done()
        await hears.take(client, answer_to(number, by="the client"))
        async with asyncio.timeout(60):
            assert (await answer)["result"] == {"by": "the client"}


@pytest.mark.parametrize("seconds", [-3600, 3600])
async def test_a_replica_whose_clock_is_wrong_passes_on_too(
    pair: tuple[Relay, Relay], cache: Cache, seconds: int
) -> None:
    asks, hears = pair
    hears._sealer = Sealer(KEY, "mcp-relay", lambda: time.time() + seconds)
    client = session(cache)
    with asks.question(client) as (number, answer):
        await hears.take(client, answer_to(number, yes=True))
        async with asyncio.timeout(60):
            assert (await answer)["result"] == {"yes": True}


class Counting:
    """A cache that only counts what is published."""

    def __init__(self) -> None:
        self.published = 0

    async def publish(self, channel: str, message: bytes) -> None:
        self.published += 1


async def test_what_concerns_no_replica_is_not_passed_on(cache: Cache) -> None:
    counting = Counting()
    relay = Relay(KEY, counting)  # type: ignore[arg-type]
    client = session(cache)
    nothing: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        cancellation(None),
        cancellation({"a": 1}),
        cancellation("x" * (MAX_ID_CHARACTERS + 1)),
        answer_to("another-client's"),
        answer_to("porch-"),
        answer_to("porch-*-1"),
        answer_to("porch-" + "a" * MAX_ID_CHARACTERS + "-1"),
        {"jsonrpc": "2.0", "result": {}},
    ]
    for message in nothing:
        await relay.take(client, message)
    assert counting.published == 0
    with relay.question(client) as (number, answer):
        await relay.take(client, answer_to(number))
        assert answer.done()
    assert counting.published == 0
