"""What looks after all open streams of a process."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import ExitStack
from typing import Any

import pytest

from auth import ANONYMOUS, BadCredential, Caller, Tier
from gateway.config.portal_keys import Streams
from gateway.limits.stream_shares import StreamShares, TooManyStreams
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http import open_streams as module
from gateway.surfaces.http.open_streams import OpenStreams, Why
from gateway.toolkit.background import background


class Heard:
    """A stream that notes what it is told."""

    def __init__(self) -> None:
        self.why: Why | None = None
        self.beats = 0
        self.may = True

    def end(self, why: Why) -> None:
        self.why = why

    def beat(self) -> None:
        self.beats += 1

    def allowed(self) -> bool:
        return self.may


class People:
    """Says who brings which token, and counts how often it was asked."""

    def __init__(self) -> None:
        self.tiers: dict[str, Tier | None] = {}
        self.asked: Counter[str] = Counter()
        self.stuck = asyncio.Event()

    def context(self, token: str | None) -> CallContext:
        async def again() -> Caller:
            assert token is not None, "who brings nothing need not be looked up"
            self.asked[token] += 1
            if token == "slow":
                await self.stuck.wait()
            tier = self.tiers.setdefault(token, Tier.PUBLIC)
            if tier is None:
                raise BadCredential("It is revoked.")
            return Caller(person=token, tier=tier, reasons=())

        caller = ANONYMOUS if token is None else Caller(person=token, tier=Tier.PUBLIC, reasons=())
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return CallContext(caller, "0", headers, [], again, "192.0.2.7", "", "/mcp")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RECHECK_SECONDS", 0.01)
    monkeypatch.setattr(module, "HEARTBEAT_SECONDS", 0.03)


@pytest.fixture
def streams() -> OpenStreams:
    return OpenStreams(StreamShares(Streams(address=10_000, network=10_000)))


async def until(holds: Any) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - a poll with a deadline
            await asyncio.sleep(0.002)


async def test_each_credential_is_asked_for_once_and_its_streams_alone_are_told(
    streams: OpenStreams,
) -> None:
    people, heard = People(), {who: [Heard() for _ in range(30)] for who in ("ana", "ben", None)}
    with ExitStack() as stack:
        for who, theirs in heard.items():
            for each in theirs:
                stack.enter_context(streams.place(people.context(who), each))
        await until(lambda: people.asked["ana"] == 3)
        assert people.asked["ben"] <= 4  # and not thirty times as often
        people.tiers["ana"] = None
        await until(lambda: all(each.why is Why.CHANGED for each in heard["ana"]))
        people.tiers["ben"] = Tier.MEMBERS
        await until(lambda: all(each.why is Why.CHANGED for each in heard["ben"]))
        assert not [each for each in heard[None] if each.why]


async def test_a_slow_look_up_holds_up_no_other(streams: OpenStreams) -> None:
    people, slow, other = People(), Heard(), Heard()
    with streams.place(people.context("slow"), slow), streams.place(people.context("ana"), other):
        people.tiers["ana"] = None
        await until(lambda: other.why is Why.CHANGED)
        assert slow.why is None
        people.stuck.set()


async def test_who_cannot_be_recognised_in_time_hears_no_more(
    streams: OpenStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOOKUP_TIMEOUT_SECONDS", 0.01)
    slow = Heard()
    with streams.place(People().context("slow"), slow):
        await until(lambda: slow.why is Why.CHANGED)


async def test_what_a_stream_may_no_longer_read_ends_it(streams: OpenStreams) -> None:
    one, other = Heard(), Heard()
    with streams.place(People().context(None), one), streams.place(People().context(None), other):
        one.may = False
        await until(lambda: one.why is Why.CHANGED)
        assert other.why is None


async def test_silent_streams_give_signs_of_life_as_long_as_they_are_open(
    streams: OpenStreams,
) -> None:
    gone, stays = Heard(), Heard()
    with streams.place(People().context(None), stays):
        with streams.place(People().context(None), gone):
            await until(lambda: gone.beats == 2)
        beats = gone.beats
        await until(lambda: stays.beats == 5)
    assert gone.beats == beats


async def test_nothing_runs_while_no_stream_is_open(streams: OpenStreams) -> None:
    assert streams._watching is None
    for _ in range(2):
        with streams.place(People().context(None), Heard()):
            assert streams._watching is not None
        await until(lambda: streams._watching is None)
    assert not streams._places
    assert not [each for each in streams._beating if each.stream is not None]


async def test_streams_end_and_none_begins_once_the_portal_stops(streams: OpenStreams) -> None:
    heard = Heard()
    with streams.place(People().context(None), heard):
        streams.close()
        assert heard.why is Why.STOPPING
        with pytest.raises(TooManyStreams), streams.place(People().context(None), Heard()):
            pass


async def test_many_things_are_looked_at_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PORTION_STREAMS", 10)
    others = 0

    async def other() -> None:
        nonlocal others
        while True:
            others += 1
            await asyncio.sleep(0)

    async with background(other()):
        assert [each async for each in module.portions(range(95))] == list(range(95))
        assert others >= 9


async def test_open_and_refused_streams_are_counted_by_surface() -> None:
    streams = OpenStreams(StreamShares(Streams(total=2)))
    with streams.place(People().context(None), Heard()):
        with streams.place(People().context(None), Heard(), "garden/ticks"):
            assert streams.by_surface == {("mcp",): 1, ("rest",): 1}
            with pytest.raises(TooManyStreams), streams.place(People().context(None), Heard()):
                pass
            assert streams.by_surface == {("mcp",): 1, ("rest",): 1}
    assert streams.by_surface == {("mcp",): 0, ("rest",): 0}
    assert streams.refused == {("mcp",): 1, ("rest",): 0}
