"""Replies to legacy clients, kept so that a client whose connection broke has them all the same.

MCP 2025-11-25, "Resumability and Redelivery": each event has an id, and a GET with
``Last-Event-ID`` goes on after it. What was written lies in the cache, so that any replica can
tell it again: one key for each event, and one that says that the reply is still being written.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import NamedTuple

from auth import Caller
from auth.sealer import Sealer
from gateway.contract import Cache
from gateway.observability.logs import get_logger
from gateway.pipeline.json_chunks import PIECE_BYTES, Body, Pieces
from gateway.surfaces.mcp.bounded_store import Bound, Kept, Room
from gateway.surfaces.mcp.sessions import Session
from gateway.surfaces.mcp.sse import event, priming
from gateway.toolkit.background import background

LIFETIME_SECONDS = 300.0
"""Seconds for which an event is kept."""
OF_SESSION = Bound(parts=2048, bytes=4 * 1024 * 1024)
"""Events, and bytes of messages, that one process keeps for one session."""
OF_ALL = Bound(parts=65_536, bytes=24 * 1024 * 1024)
"""Events, and bytes of messages, that one process keeps in all."""
ALIVE_SECONDS = 45.0
"""Seconds after which a reply is given up that nobody has said to be still written."""
RECHECK_SECONDS = 5.0
"""Seconds after which a reader looks by itself; mostly it is told."""

_ID = re.compile(r"r-([0-9a-f]{16})-([0-9]{1,9})", re.ASCII)
_MARK_CHARACTERS = 43
_MORE, _LAST = "+", "."

log = get_logger(__name__)


class Position(NamedTuple):
    """Where a client is in a reply.

    Attributes:
        reply: which.
        number: the event that it has had last.
    """

    reply: str
    number: int

    def __str__(self) -> str:
        return f"r-{self.reply}-{self.number}"

    @classmethod
    def of(cls, event_id: str) -> Position | None:
        """The position that an event id names, or None where it is not a reply's."""
        match = _ID.fullmatch(event_id)
        return cls(match[1], int(match[2])) if match else None


class Replies:
    """Keeps the replies to legacy clients for a while.

    A reply is for its session and for its caller as they were: with other rights it is another's.

    Args:
        key: signs what lies in the cache; the same on every replica.
        cache: holds it.

    Attributes:
        room: how much is kept.
    """

    def __init__(self, key: bytes, cache: Cache) -> None:
        self._sealer = Sealer(key, "mcp-reply")
        self.cache = cache
        self.room = Room(OF_SESSION, OF_ALL, LIFETIME_SECONDS)

    def begin(self, session: Session, caller: Caller) -> KeptReply:
        """A reply that is kept if it becomes an event stream, from its first event on."""
        return KeptReply(self, session, caller)

    async def find(self, session: Session, caller: Caller, at: Position) -> Reading | None:
        """What comes after a position, or None where that is not kept, or not for this caller."""
        place = self.place(session, caller, at.reply)
        if await self.cache.get(place) is None:
            return None
        return Reading(self, place, at)

    async def forget(self, session: Session) -> None:
        """Keep nothing more of what this process has written for a session."""
        for name in self.room.of(session.mark):
            if kept := self.room.forget(name):
                await self.drop(kept)

    async def drop(self, kept: Kept) -> None:
        """Take out of the cache what is counted no more."""
        await self.cache.delete(kept.name)
        for number in range(1, kept.size.parts + 1):
            await self.cache.delete(key_of(kept.name, number))

    async def sealed(self, key: str, data: Body, *, last: bool) -> bytes:
        """An event as it lies in the cache, where whoever writes to it cannot answer for us."""
        if isinstance(data, Pieces):  # it is long, and nobody is to wait for it
            return await asyncio.to_thread(self._sealed, key, b"".join(data.parts), last=last)
        return self._sealed(key, data, last=last)

    def _sealed(self, key: str, data: bytes, *, last: bool) -> bytes:
        body = (_LAST if last else _MORE) + data.decode()
        return (self._sealer.mark(f"{key}\0{body}") + body).encode()

    async def opened(self, key: str, value: bytes) -> tuple[bytes, bool] | None:
        """An event's message, and whether it is the last; None where it is not what we wrote."""
        if len(value) > PIECE_BYTES:
            return await asyncio.to_thread(self._opened, key, value)
        return self._opened(key, value)

    def _opened(self, key: str, value: bytes) -> tuple[bytes, bool] | None:
        text = value.decode(errors="replace")
        mark, body = text[:_MARK_CHARACTERS], text[_MARK_CHARACTERS:]
        if not secrets.compare_digest(self._sealer.mark(f"{key}\0{body}").encode(), mark.encode()):
            log.warning("kept_reply_not_believed", key=key)
            return None
        return body[1:].encode(), body[0] == _LAST

    def place(self, session: Session, caller: Caller, reply: str) -> str:
        """The name of a reply in the cache, which only its session and caller lead to."""
        tools = sorted(caller.tools) if caller.tools is not None else None
        rights = caller.person, str(caller.tier), sorted(caller.groups), tools
        return "mcp-reply:" + self._sealer.mark(f"{session.mark}\0{rights}\0{reply}")


class KeptReply:
    """One reply while it is written.

    Args:
        replies: keeps it.
        session: whose it is.
        caller: who asked for it.

    Attributes:
        primes: whether its client understands an event without a message.
        held: whether a client that has had its first event can come back for the rest.
    """

    def __init__(self, replies: Replies, session: Session, caller: Caller) -> None:
        self._replies = replies
        self._session = session
        self._caller = caller
        self.primes = session.primes
        self.held = False

    async def begin(self) -> bytes:
        """Keep it from now on.

        Returns:
            What the client is sent first.
        """
        self._at, self.held = Position(secrets.token_hex(8), 0), True
        self._place = self._replies.place(self._session, self._caller, self._at.reply)
        self._replies.room.begin(self._session.mark, self._place)
        await self.touch()
        return priming(str(self._at)) if self.primes and self.held else b""

    async def add(self, data: Body, *, last: bool = False) -> Body:
        """Keep a message.

        Returns:
            The event that the client is sent, with an id where it is kept.
        """
        if not self.held:
            return event(data)
        self._at = Position(self._at.reply, self._at.number + 1)
        key, replies = key_of(self._place, self._at.number), self._replies
        for kept in replies.room.add(self._place, len(data)):
            await replies.drop(kept)
        try:
            if self._is_held():
                value = await replies.sealed(key, data, last=last)
                await replies.cache.set(key, value, LIFETIME_SECONDS)
                if last:
                    await self._head(_LAST, LIFETIME_SECONDS)
                elif time.monotonic() - self._said_at >= ALIVE_SECONDS / 3:
                    await self._head(_MORE, ALIVE_SECONDS)
                await replies.cache.publish(self._place, b"")
        except OSError as error:
            await self._give_up(error)
        return event(data, str(self._at) if self.held else "")

    async def touch(self) -> None:
        """Say that it is still being written."""
        if not self._is_held():
            return
        self._replies.room.touch(self._place)
        try:
            await self._head(_MORE, ALIVE_SECONDS)
        except OSError as error:
            await self._give_up(error)

    def _is_held(self) -> bool:
        self.held = self.held and self._place in self._replies.room
        return self.held

    async def _head(self, state: str, lifetime: float) -> None:
        self._said_at = time.monotonic()
        await self._replies.cache.set(self._place, f"{state}{self._at.number}".encode(), lifetime)

    async def _give_up(self, error: OSError) -> None:
        self.held = False
        self._replies.room.forget(self._place)
        log.warning("reply_not_kept", reason=str(error))


class Reading:
    """A reply that is told again from a position on, while it may still be written.

    Args:
        replies: keeps it.
        place: its name in the cache.
        at: where its client is.
    """

    def __init__(self, replies: Replies, place: str, at: Position) -> None:
        self._replies = replies
        self._place = place
        self.at = at

    async def events(self) -> AsyncGenerator[bytes]:
        """The events after the position, as they come; it ends with the reply, or where it is lost.

        Raises:
            OSError: the cache refuses.
        """
        rung = asyncio.Event()
        async with (
            self._replies.cache.listen(self._place) as news,
            background(_ring(rung, news)),
        ):
            while True:
                rung.clear()
                found = await self._next()
                if found is not None:
                    data, last = found
                    self.at = Position(self.at.reply, self.at.number + 1)
                    yield event(data, str(self.at))
                    if last:
                        return
                elif await self._is_over():
                    return
                else:
                    await _within(RECHECK_SECONDS, rung)

    async def _next(self) -> tuple[bytes, bool] | None:
        key = key_of(self._place, self.at.number + 1)
        value = await self._replies.cache.get(key)
        return None if value is None else await self._replies.opened(key, value)

    async def _is_over(self) -> bool:
        """Whether the next event will never be there."""
        head = await self._replies.cache.get(self._place)
        if head is None:
            return True
        is_written = int(head[1:]) > self.at.number or head[:1] == _LAST.encode()
        return is_written and await self._next() is None


def key_of(place: str, number: int) -> str:
    """Where an event lies in the cache."""
    return f"{place}:{number}"


async def _ring(rung: asyncio.Event, news: AsyncIterator[bytes]) -> None:
    async for _ in news:
        rung.set()


async def _within(seconds: float, rung: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await rung.wait()
    except TimeoutError:
        return
