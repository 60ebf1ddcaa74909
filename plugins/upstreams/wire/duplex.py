"""One channel that all calls share: what comes is sorted by the call that it belongs to."""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from time import perf_counter

from plugins.upstreams.wire.call import Call
from plugins.upstreams.wire.calls import Calls
from plugins.upstreams.wire.closure import Closure
from plugins.upstreams.wire.connection import NO_HEADERS, TransportName
from plugins.upstreams.wire.errors import TooLarge, WireError
from plugins.upstreams.wire.limits import Limits
from plugins.upstreams.wire.messages import Message, encode, is_response
from plugins.upstreams.wire.share import Share

_LEADING_ID = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,')


class Duplex:
    """The part of a transport that stdio and HTTP+SSE have in common.

    Args:
        limits: of time and size.
    """

    name: TransportName
    cancels_by_closing = False

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.calls: Calls
        self.closure = Closure()
        self.share = Share()
        self._waiting: dict[int, Call] = {}

    @abstractmethod
    async def write(self, data: bytes) -> None:
        """Send one message.

        Raises:
            WireError: it was not taken.
        """

    def agreed(self, version: str, *, modern: bool) -> None:
        """Nothing names the revision here but the messages themselves."""

    def open(
        self, message: Message, call: Call, headers: Mapping[str, str], *, bounded: bool = True
    ) -> AbstractAsyncContextManager[AsyncIterator[Message]]:
        """Send a request, and give what comes for it."""
        return self._open(message, call, bounded)

    @asynccontextmanager
    async def _open(
        self, message: Message, call: Call, bounded: bool
    ) -> AsyncGenerator[AsyncIterator[Message]]:
        self.closure.check()
        self._waiting[call.id] = call
        try:
            await self.write(encode(message))
            async with aclosing(self._messages(call, bounded)) as messages:
                yield messages
        finally:
            del self._waiting[call.id]
            self._count_unread(call)

    def _count_unread(self, call: Call) -> None:
        """Count the answers that came after the one which ended the call."""
        while not call.inbox.empty():
            left = call.inbox.get_nowait()
            if isinstance(left, dict) and is_response(left):
                self.calls.oddities["response to no request"] += 1

    async def _messages(self, call: Call, bounded: bool) -> AsyncGenerator[Message]:
        count = 0
        while True:
            heard = await call.inbox.get()
            if isinstance(heard, WireError):
                raise heard.with_traceback(None)  # all that waited get the same one
            count += 1
            if bounded and count > self.limits.reply_messages:
                raise TooLarge(f"More than {self.limits.reply_messages} messages in one reply.")
            yield heard

    async def send(self, message: Message, headers: Mapping[str, str] = NO_HEADERS) -> None:
        """Send what nothing answers."""
        self.closure.check()
        await self.write(encode(message))

    async def heard(self, message: Message) -> None:
        """Give a message to whom it belongs; it never waits for a caller."""
        begun, call = perf_counter(), self.calls.of_message(message)
        if call is None or call.id not in self._waiting:
            await self.calls.hear(message, None)
        elif call.put(message):
            return
        else:
            self.calls.oddities["notification too many"] += 1
        await self.share.rest(begun)

    def heard_too_much(self, beginning: bytes) -> None:
        """A message was larger than its limit, and is lost for the call that it was meant for.

        Args:
            beginning: of the message; where it does not tell the call, all that run are lost.
        """
        limit = self.limits.message_bytes
        found = _LEADING_ID.match(beginning)
        named = self._waiting.get(int(found[1])) if found else None
        for call in [named] if named else list(self._waiting.values()):
            call.put(TooLarge(f"The server answered with more than {limit} bytes."))

    def lost(self, reason: WireError) -> None:
        """The channel is gone: every call ends, and so does the transport."""
        if not self.closure.over:
            self.closure.set(reason)
            for call in self._waiting.values():
                call.put(reason)

    async def listen(self, opened: asyncio.Event) -> None:
        """What belongs to no request comes on the same channel."""
        opened.set()

    async def ended(self) -> WireError:
        """Wait until the channel is gone."""
        return await self.closure.wait()
