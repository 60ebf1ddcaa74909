"""The streams that are open in this process, and the one task that looks after all of them.

It asks who their callers still are, once for each credential, and tells the streams of those who
have changed; and it has silent streams give signs of life. It works in portions, so that nothing
else waits while there are many, and there is none while no stream is open.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import contextmanager, suppress
from enum import Enum
from typing import Protocol, TypeVar

from auth import ANONYMOUS, BadCredential, Caller
from auth.credentials import BEARER
from auth.stores import StoreUnavailable
from gateway.limits.stream_shares import StreamShares, TooManyStreams
from gateway.pipeline.call_context import CallContext
from gateway.toolkit.eager_start import within

RECHECK_SECONDS = 2.0
"""Seconds after which it is asked again who a stream's caller is, which is remembered mostly:
what was revoked hears nothing more within 5 s, also where it was revoked at another replica."""
HEARTBEAT_SECONDS = 15.0
"""Seconds between two signs of life."""
PORTION_STREAMS = 50
"""Streams that are looked at or told in one step of the event loop."""
_LOOKUP_TIMEOUT_SECONDS = 10.0
"""Seconds in which it must be found out who a caller is."""
_LOOKUPS_AT_ONCE = 16
_NOBODY = ("nobody",)

T = TypeVar("T")


class Why(Enum):
    """Why the portal ends a stream."""

    STOPPING = "stopping"
    CHANGED = "changed"


class OpenStream(Protocol):
    """A stream as what looks after it knows it. Nothing here waits."""

    def end(self, why: Why) -> None:
        """End soon."""
        ...

    def beat(self) -> None:
        """Give a sign of life, where nothing else is on its way."""
        ...

    def allowed(self) -> bool:
        """Whether the caller, who has not changed, may still read it."""
        ...


class _Place:
    __slots__ = ("beats_at", "context", "stream")

    def __init__(self, stream: OpenStream, context: CallContext, beats_at: float) -> None:
        self.stream: OpenStream | None = stream
        self.context: CallContext | None = context
        self.beats_at = beats_at


class OpenStreams:
    """Gives places to streams, and looks after them.

    Args:
        shares: says how many there may be.

    Attributes:
        by_surface: how many are open: ``mcp`` those of changes, ``rest`` those of plugins' APIs.
        refused: how many were not opened because all places were taken, likewise.
    """

    def __init__(self, shares: StreamShares) -> None:
        self.by_surface: Counter[tuple[str, ...]] = Counter({("mcp",): 0, ("rest",): 0})
        self.refused: Counter[tuple[str, ...]] = Counter({("mcp",): 0, ("rest",): 0})
        self._shares = shares
        self._places: dict[tuple[object, ...], set[_Place]] = {}
        self._beating: deque[_Place] = deque()
        self._closing = False
        self._watching: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._shares)

    @contextmanager
    def place(self, context: CallContext, stream: OpenStream, item: str = "") -> Generator[None]:
        """Hold a place for as long as the block lasts, and look after the stream.

        Args:
            context: who asks for it.
            stream: what is told what happens.
            item: whose tier the stream carries, for the record.

        Raises:
            TooManyStreams: all of them are taken, or the portal is stopping.
        """
        if self._closing:
            raise TooManyStreams("The portal stops. Try again in a moment.", item)
        with self._counted(item), self._shares.hold(context.caller, context.peer, item):
            now = asyncio.get_running_loop().time()
            place, key = _Place(stream, context, now + HEARTBEAT_SECONDS), _who(context)
            self._places.setdefault(key, set()).add(place)
            self._beating.append(place)
            if self._watching is None:
                self._watching = asyncio.create_task(self._watch())
            try:
                yield
            finally:
                place.stream = place.context = None  # it may wait a while to be passed over
                self._places[key].discard(place)
                if not self._places[key]:
                    del self._places[key]

    @contextmanager
    def _counted(self, item: str) -> Generator[None]:
        surface = ("rest" if item else "mcp",)  # only what a plugin streams is an item
        self.by_surface[surface] += 1
        try:
            yield
        except TooManyStreams:
            self.refused[surface] += 1
            raise
        finally:
            self.by_surface[surface] -= 1

    def close(self) -> None:
        """End every stream, because the portal stops."""
        self._closing = True
        for place in [each for places in self._places.values() for each in places]:
            if place.stream is not None:
                place.stream.end(Why.STOPPING)

    async def _watch(self) -> None:
        try:
            while self._places:
                await asyncio.sleep(min(RECHECK_SECONDS, HEARTBEAT_SECONDS))
                await self._recheck()
                await self._beat()
        finally:
            self._watching = None
            self._beating.clear()

    async def _recheck(self) -> None:
        """Look at every stream, by credential; a slow look-up holds up no more than its own."""
        groups = iter(list(self._places.items()))

        async def work() -> None:
            async for key, places in portions(groups):
                if places:
                    await _recheck(key, places)

        await asyncio.gather(*(work() for _ in range(_LOOKUPS_AT_ONCE)))

    async def _beat(self) -> None:
        now, due = asyncio.get_running_loop().time(), []
        while self._beating and self._beating[0].beats_at <= now:
            due.append(self._beating.popleft())
        async for place in portions(due):
            if place.stream is not None:
                place.stream.beat()
                place.beats_at = now + HEARTBEAT_SECONDS
                self._beating.append(place)


async def portions(things: Iterable[T]) -> AsyncGenerator[T]:
    """All things, one after the other; the event loop does something else now and then."""
    for number, thing in enumerate(things, 1):
        yield thing
        if number % PORTION_STREAMS == 0:
            await asyncio.sleep(0)


def _who(context: CallContext) -> tuple[object, ...]:
    """What streams have in common that are of one credential, and change together."""
    credential = context.headers.get(BEARER.decode())
    if credential is not None:
        return credential, context.path
    return _NOBODY if context.caller.anonymous else (id(context),)


async def _recheck(key: tuple[object, ...], places: set[_Place]) -> None:
    """End the streams of one credential whose callers are no longer who they were."""
    some, now = next(iter(places)).context, None
    if key is _NOBODY or some is None:  # who brings no credential is nobody, whatever happens
        now = _rights(ANONYMOUS)
    else:
        # Who cannot be recognised any more hears no more.
        with suppress(BadCredential, StoreUnavailable, TimeoutError):
            now = _rights(await within(_LOOKUP_TIMEOUT_SECONDS, some.again(), TimeoutError))
    async for place in portions(list(places)):
        stream, context = place.stream, place.context
        if stream is None or context is None:  # it has ended meanwhile
            continue
        if _rights(context.caller) != now or not stream.allowed():
            stream.end(Why.CHANGED)


def _rights(caller: Caller) -> tuple[object, ...]:
    return caller.person, caller.tier, caller.groups, caller.tools
