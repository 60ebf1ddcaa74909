"""Replies that are kept, and told again to whom they belong."""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import from_json

from auth import ANONYMOUS, Caller, Tier
from gateway.contract import Cache
from gateway.pipeline.json_chunks import Body, Pieces
from gateway.services.cache.memory import MemoryCache
from gateway.surfaces.mcp import replies, reply_delivery
from gateway.surfaces.mcp.bounded_store import Bound, Room
from gateway.surfaces.mcp.call_messages import Outbox
from gateway.surfaces.mcp.replies import KeptReply, Position, Replies
from gateway.surfaces.mcp.reply_stream import Reply, answer
from gateway.surfaces.mcp.sessions import Session, Sessions
from tests.examples import examples

KEY = b"k" * 32
ANN = Caller(person="ann", tier=Tier.MEMBERS)


def session_of(caller: Caller = ANONYMOUS, version: str = "2025-11-25") -> Session:
    return Sessions(KEY, MemoryCache()).begin(caller, version, {})


async def kept(there: Replies, session: Session, *texts: bytes, caller: Caller = ANONYMOUS) -> Any:
    """A reply of these messages, and the ids that its client was sent."""
    reply = there.begin(session, caller)
    sent: list[Body] = [await reply.begin()]
    for number, text in enumerate(texts, 1):
        sent.append(await reply.add(text, last=number == len(texts)))
    return [ids(each)[0] for each in sent]


def ids(written: Body) -> list[str]:
    assert isinstance(written, bytes)
    return re.findall(r"^id: (.*)$", written.decode(), re.MULTILINE)


def texts(written: Body) -> list[bytes]:
    assert isinstance(written, bytes)
    return [each for each in re.findall(rb"^data: (.*)$", written, re.MULTILINE) if each]


async def told(
    there: Replies, session: Session, event_id: str, caller: Caller = ANONYMOUS
) -> list[bytes] | None:
    at = Position.of(event_id)
    assert at is not None
    reading = await there.find(session, caller, at)
    if reading is None:
        return None
    async with asyncio.timeout(60), aclosing(reading.events()) as events:
        return [text async for each in events for text in texts(each)]


async def test_another_replica_tells_what_came_after_each_event(cache: Cache) -> None:
    session, here, there = session_of(), Replies(KEY, cache), Replies(KEY, cache)
    written = [b'{"n":1}', b'{"n":2}', b'{"n":3}']
    named = await kept(here, session, *written)
    assert len(set(named)) == 4
    for number, event_id in enumerate(named):
        assert await told(there, session, event_id) == written[number:]


async def test_a_long_reply_is_kept_as_a_short_one_is() -> None:
    session, there = session_of(), Replies(KEY, MemoryCache())
    reply = there.begin(session, ANONYMOUS)
    (first,) = ids(await reply.begin())
    long = Pieces([b"%d" % number * 50_000 for number in range(3)])
    written = await reply.add(long, last=True)
    assert isinstance(written, Pieces)
    assert await told(there, session, first) == [b"".join(long.parts)]


async def test_what_is_still_written_is_told_as_it_comes(cache: Cache) -> None:
    session, here, there = session_of(), Replies(KEY, cache), Replies(KEY, cache)
    reply = here.begin(session, ANONYMOUS)
    (first,) = ids(await reply.begin())
    hearing = asyncio.create_task(told(there, session, first))
    for number in range(3):
        await asyncio.sleep(0)
        await reply.add(b"%d" % number, last=number == 2)
    assert await hearing == [b"0", b"1", b"2"]


@pytest.mark.parametrize(
    "thief",
    [
        Caller(person="bob", tier=Tier.MEMBERS),
        Caller(person="ann", tier=Tier.OPEN),
        Caller(person="ann", tier=Tier.MEMBERS, groups=frozenset({"team"})),
        Caller(person="ann", tier=Tier.MEMBERS, tools=frozenset({"x/y"})),
        ANONYMOUS,
    ],
)
async def test_another_caller_or_the_same_with_other_rights_hears_nothing(thief: Caller) -> None:
    session, there = session_of(ANN), Replies(KEY, MemoryCache())
    first, *_ = await kept(there, session, b"secret", caller=ANN)
    assert await told(there, session, first, caller=ANN) == [b"secret"]
    assert await told(there, session, first, caller=thief) is None


async def test_the_id_of_another_session_leads_nowhere() -> None:
    there = Replies(KEY, MemoryCache())
    first, *_ = await kept(there, session_of(ANN), b"secret", caller=ANN)
    assert await told(there, session_of(ANN), first, caller=ANN) is None


async def test_what_somebody_else_has_written_into_the_cache_is_not_told() -> None:
    cache = MemoryCache()
    session, there, thief = session_of(), Replies(KEY, cache), Replies(b"o" * 32, cache)
    first, second, _ = await kept(there, session, b"one", b"two")
    at = Position.of(first)
    assert at is not None
    place = there.place(session, ANONYMOUS, at.reply)
    key = replies.key_of(place, 2)
    await cache.set(key, await thief.sealed(key, b"forged", last=True))
    assert await told(there, session, second) == []
    moved = await cache.get(replies.key_of(place, 1))
    assert moved is not None
    await cache.set(key, moved)
    assert await told(there, session, second) == []


@pytest.mark.parametrize(
    "nonsense", ["", "r-", "r-0-0", "n-abc-1", "r-0123456789abcdef--1", "r-0123456789abcdef-1 "]
)
def test_an_id_that_is_not_of_a_reply_is_no_position(nonsense: str) -> None:
    assert Position.of(nonsense) is None


async def test_a_reply_that_nobody_writes_any_more_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "ALIVE_SECONDS", 0.2)
    monkeypatch.setattr(replies, "RECHECK_SECONDS", 0.05)
    session, there = session_of(), Replies(KEY, MemoryCache())
    reply = there.begin(session, ANONYMOUS)
    (first,) = ids(await reply.begin())
    await reply.add(b"one")
    assert await told(there, session, first) == [b"one"]
    assert await told(there, session, first) is None


async def test_a_client_that_has_had_the_reply_is_told_nothing_more() -> None:
    session, there = session_of(), Replies(KEY, MemoryCache())
    *_, last = await kept(there, session, b"one", b"two")
    assert await told(there, session, last) == []


async def test_the_end_of_a_session_ends_its_replies() -> None:
    cache = MemoryCache()
    session, other, there = session_of(), session_of(), Replies(KEY, cache)
    gone, *_ = await kept(there, session, b"one")
    stays, *_ = await kept(there, other, b"one")
    await there.forget(session)
    assert await told(there, session, gone) is None
    assert await told(there, other, stays) == [b"one"]


async def test_what_is_too_much_for_a_session_goes_oldest_first_and_out_of_the_cache() -> None:
    cache = MemoryCache()
    session, there = session_of(), Replies(KEY, cache)
    there.room = Room(Bound(3, 100), Bound(100, 1000), 60)
    first, *_ = await kept(there, session, b"1", b"2")
    second, *_ = await kept(there, session, b"3", b"4")
    assert await told(there, session, first) is None
    assert await told(there, session, second) == [b"3", b"4"]
    assert len(cache._entries) == 3, "the second's two events, and its head"


async def test_a_reply_that_is_too_large_is_sent_and_not_kept() -> None:
    session, there = session_of(), Replies(KEY, MemoryCache())
    there.room = Room(Bound(3, 100), Bound(100, 1000), 60)
    reply = there.begin(session, ANONYMOUS)
    (first,) = ids(await reply.begin())
    written = await reply.add(b"x" * 101, last=True)
    assert (texts(written), ids(written), reply.held) == ([b"x" * 101], [], False)
    assert await told(there, session, first) is None


class Refusing(MemoryCache):
    """A cache that takes nothing."""

    async def set(self, key: str, value: bytes, ttl: float | None = None) -> None:
        raise OSError("out of memory")


async def test_a_cache_that_refuses_costs_the_ids_and_nothing_else() -> None:
    reply = Replies(KEY, Refusing()).begin(session_of(), ANONYMOUS)
    assert await reply.begin() == b""
    assert texts(await reply.add(b"one")) == [b"one"]


class Client:
    """A client whose connection breaks once so many bytes have come through."""

    def __init__(self, breaks_after: int) -> None:
        self.left = asyncio.Event()
        self._room = breaks_after
        self.body = b""

    async def receive(self) -> dict[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        written: bytes = message.get("body", b"")
        self.body += written[: self._room]
        self._room -= min(len(written), self._room)
        if self._room == 0:
            self.left.set()
        await asyncio.sleep(0)

    @property
    def had(self) -> bytes:
        """The events that came through whole."""
        whole, end, _ = self.body.rpartition(b"\n\n")
        return whole + end


async def _served(there: Replies, session: Session, count: int, client: Client) -> None:
    outbox = Outbox()

    async def work() -> Reply:
        for number in range(count):
            outbox.send({"n": number})
            if number % 2:
                await asyncio.sleep(0)
        return Reply(b'{"n":"reply"}')

    reply: KeptReply = there.begin(session, ANONYMOUS)
    await answer(work(), outbox, client.receive, client.send, reply)


async def _resumed(there: Replies, session: Session, last: str, room: int) -> Client:
    """What came through of a resumed stream until its connection broke again."""
    client, at = Client(room), Position.of(last)
    assert at is not None
    reading = await there.find(session, ANONYMOUS, at)
    assert reading is not None
    async with asyncio.timeout(60), aclosing(reading.events()) as events:
        async for written in events:
            await client.send({"body": written})
            if client.left.is_set():
                break
    return client


@settings(max_examples=examples(100))
@given(
    st.integers(1, 12),
    st.lists(st.integers(1, 700), min_size=1, max_size=5),
    st.sampled_from(["2025-11-25", "2025-06-18"]),
)
async def test_wherever_the_connection_breaks_each_message_comes_once_and_in_order(
    count: int, breaks: list[int], version: str
) -> None:
    cache, session = MemoryCache(), session_of(version=version)
    here, there = Replies(KEY, cache), Replies(KEY, cache)
    client = Client(breaks[0])
    serving = asyncio.create_task(_served(here, session, count, client))
    both = asyncio.create_task(client.left.wait())
    await asyncio.wait({serving, both}, return_when=asyncio.FIRST_COMPLETED)
    heard, known = texts(client.had), ids(client.had)
    for room in [*breaks[1:], 10_000]:
        if b'{"n":"reply"}' in heard or not known:
            break
        again = await _resumed(there, session, known[-1], room)
        heard += texts(again.had)
        known += ids(again.had)
    both.cancel()
    await asyncio.wait_for(serving, 60)
    expected = [b'{"n":%d}' % number for number in range(count)] + [b'{"n":"reply"}']
    if known:
        assert [from_json(each) for each in heard] == [from_json(each) for each in expected]
        assert len(set(known)) == len(known), "no id is used twice"
    else:
        assert heard == [], "who has had no event has no place to come back to"


async def test_a_silent_call_can_be_come_back_for_and_is_polled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reply_delivery, "RESUMABLE_AFTER_SECONDS", 0.01)
    monkeypatch.setattr(reply_delivery, "POLL_AFTER_SECONDS", 0.02)
    session, there, go = session_of(), Replies(KEY, MemoryCache()), asyncio.Event()
    client = Client(10_000)

    async def work() -> Reply:
        await go.wait()
        return Reply(b'{"late":true}')

    outbox, over = Outbox(), asyncio.Event()

    async def send(message: Any) -> None:
        await client.send(message)
        if message["type"] == "http.response.body" and not message["more_body"]:
            over.set()

    reply = there.begin(session, ANONYMOUS)
    serving = asyncio.create_task(answer(work(), outbox, client.receive, send, reply))
    await asyncio.wait_for(over.wait(), 60)
    (first,) = ids(client.body)
    assert client.body == f"id: {first}\nretry: 1000\ndata: \n\n".encode()
    go.set()
    assert await told(there, session, first) == [b'{"late":true}']
    await serving
