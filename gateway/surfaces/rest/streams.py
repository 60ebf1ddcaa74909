"""Serves the streams that plugins' APIs declare: as SSE, and over a WebSocket on the same path.

Until a stream begins it is a request like any other, with the same checks, limits, audit record
and words. From then on there is no buffer in between: the next event is asked for when the client
has taken the one before. A client that reads nothing costs nobody anything, and is let go.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import AsyncExitStack, aclosing, contextmanager, suppress
from functools import partial
from typing import Any, ClassVar

from starlette.types import Receive, Scope, Send

from gateway.catalog.items import Item
from gateway.contract import Caller, Stream, StreamEvent, ToolFailed
from gateway.errors import PortalError
from gateway.observability.logs import get_logger
from gateway.pipeline.call import Target
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.http.responses import Headers, send_json
from gateway.surfaces.http.revalidation import until_changed
from gateway.surfaces.rest.endpoint import Endpoint, redacted
from gateway.surfaces.rest.parameters import streamed
from gateway.surfaces.rest.stream_lines import NOT_KEPT, End, Line, SocketLine, SseLine

MAX_OPEN_STREAMS = 1024
"""Streams that are open at the same time."""
MAX_CALLER_STREAMS = 20
"""Those of one caller."""
HEARTBEAT_SECONDS = 15.0
"""Seconds between two signs of life."""
STALL_TIMEOUT_SECONDS = 30.0
"""Seconds after which a client that reads nothing is let go."""
_LAST_EVENT_SECONDS = 2.0
"""Seconds in which such a one may take its last event."""
_DISCONNECT_SECONDS = 90.0
"""Seconds in which its connection breaks (``gateway/cli/server.py``)."""
_RETRY_AFTER_SECONDS = 5
_HEADER = "last-event-id"

DONE = End("done", 1000)
STOPPING = End("stopping", 1001, "The portal stops. Connect again in a moment.")
CHANGED = End("access_changed", 1008, "Your access has changed. Connect again.")
SLOW = End("too_slow", 1013, "You read too slowly. Connect again with the last event's id.")

log = get_logger(__name__)


class TooManyStreams(PortalError):
    """The caller, or all callers together, have as many streams open as there may be."""

    code = "too_many_streams"
    status = 429
    headers: ClassVar[Headers] = ((b"retry-after", b"%d" % _RETRY_AFTER_SECONDS),)

    def __init__(self, message: str, item: str) -> None:
        super().__init__(message)
        self.item = item


class OpenStreams:
    """The streams that are open, each in a place that it holds."""

    def __init__(self) -> None:
        self._ended: set[asyncio.Future[End]] = set()
        self._held: Counter[str] = Counter()
        self._closing = False

    def __len__(self) -> int:
        return len(self._ended)

    @contextmanager
    def place(self, context: CallContext, item: str) -> Generator[asyncio.Future[End]]:
        """Hold a place; yields what is done once the stream is to end for the portal's sake.

        Args:
            context: who asks for one.
            item: whose tier the stream carries, for the record.

        Raises:
            TooManyStreams: all of them are taken.
        """
        who = context.caller.person or f"peer:{context.peer}"
        if self._closing or len(self._ended) >= MAX_OPEN_STREAMS:
            raise TooManyStreams("No more streams can be opened here. Try again later.", item)
        if self._held[who] >= MAX_CALLER_STREAMS:
            raise TooManyStreams(
                f"You have {MAX_CALLER_STREAMS} streams open. Close one first.", item
            )
        ended: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self._ended.add(ended)
        self._held[who] += 1
        try:
            yield ended
        finally:
            self._ended.discard(ended)
            self._held[who] -= 1
            if not self._held[who]:
                del self._held[who]

    def close(self) -> None:
        """End every stream, because the portal stops."""
        self._closing = True
        for ended in self._ended:
            if not ended.done():
                ended.set_result(STOPPING)


class StreamEndpoint(Endpoint):
    """One stream as an ASGI application.

    Args:
        stream: what the plugin declared.
        places: the streams that are open.
        rest: as of an :class:`Endpoint`.
    """

    def __init__(self, stream: Stream, places: OpenStreams, *rest: Any) -> None:
        super().__init__(*rest)
        self._stream = stream
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one client."""
        context, socket = context_of(scope), scope["type"] == "websocket"
        async with AsyncExitStack() as stack:
            opening = _Opening(
                self._stream, None if scope.get("method") == "HEAD" else self._places
            )
            find = partial(self._stream_target, context, opening)
            arguments = partial(opening.arguments, scope, context, stack, socket=socket)
            outcome = await self._pipeline.call(self._call(context, find, arguments))
            if outcome.error is not None:
                return await self._send_refusal(outcome.error, outcome, context, send)
            headers = (*self._dialect.headers(outcome.taken), *redacted(outcome.redactions))
            if opening.ended is None:
                return await _head(send, headers)
            if opening.events is None or outcome.item is None:
                return await send_json(send, b"", 204, (NOT_KEPT, *headers))
            scrubbed = self._pipeline.streamed(outcome.item, opening.events)
            events = await stack.enter_async_context(aclosing(scrubbed))
            if socket:
                await receive()  # websocket.connect
            line = SocketLine(receive, send) if socket else SseLine(receive, send)
            await line.begin(headers)
            await _Flow(line, events, opening.ended).run(self._until_revoked(context))
        return None

    def _stream_target(self, context: CallContext, opening: _Opening) -> Target:
        opening.item = self._item(context)
        return Target(
            opening.item, opening.run, self._parsed, lambda *nothing: b"", kind=self._kind
        )

    async def _until_revoked(self, context: CallContext) -> End:
        """Returns once the caller may not go on reading."""
        await until_changed(context.caller, context.again, lambda: self._allows(context))
        return CHANGED

    def _allows(self, context: CallContext) -> bool:
        try:
            self._item(context)
        except PortalError:
            return False
        return True


class _Opening:
    """A stream that is being opened: a call that is over once the plugin has opened it.

    Args:
        stream: what the plugin declared.
        places: the streams that are open; None where the client asks for the headers alone.

    Attributes:
        item: what the caller may use.
        ended: done once the portal stops; None where no place is held.
        events: what the plugin sends; None where there is nothing to send.
    """

    def __init__(self, stream: Stream, places: OpenStreams | None) -> None:
        self._stream = stream
        self._places = places
        self._last: str | None = None
        self.item: Item | None = None
        self.ended: asyncio.Future[End] | None = None
        self.events: AsyncGenerator[StreamEvent, None] | None = None

    async def arguments(
        self, scope: Scope, context: CallContext, stack: AsyncExitStack, *, socket: bool
    ) -> dict[str, Any]:
        """The parameters; holds a place until the stack ends."""
        raw, last = streamed(scope, self._stream.params, socket=socket)
        self._last = context.headers.get(_HEADER) or last
        if self._places is not None and self.item is not None:
            self.ended = stack.enter_context(self._places.place(context, self.item.key))
        return raw

    async def run(self, params: Any, caller: Caller) -> None:
        """Let the plugin open it."""
        if self.ended is not None:
            self.events = await self._stream.open(params, caller, self._last)


class _Flow:
    """One stream on its way.

    Args:
        line: the way to the client.
        events: what goes there.
        ended: done once the portal stops.
    """

    def __init__(
        self, line: Line, events: AsyncGenerator[StreamEvent, None], ended: asyncio.Future[End]
    ) -> None:
        self._line = line
        self._events = events
        self._ended = ended

    async def run(self, revoked: Coroutine[Any, Any, End]) -> None:
        """Send events until there are no more, the client is gone, or it may not go on.

        Args:
            revoked: returns why the caller may not go on, once that is so.
        """
        left = asyncio.ensure_future(self._line.left())
        writing, revocation = asyncio.ensure_future(self._write()), asyncio.ensure_future(revoked)
        beating = asyncio.ensure_future(self._beat())
        try:
            whys: set[asyncio.Future[Any]] = {left, self._ended, revocation, writing}
            await asyncio.wait(whys, return_when=asyncio.FIRST_COMPLETED)
            if left.done():
                return
            why = next(each for each in (self._ended, revocation, writing) if each.done()).result()
            await _stopped(writing, revocation, beating)
            if not await self._send_end(why):
                await asyncio.wait({left}, timeout=_DISCONNECT_SECONDS)
        finally:
            await _stopped(left, writing, revocation, beating)

    async def _write(self) -> End:
        try:
            async for event in self._events:
                if not await self._sent(event):
                    return SLOW
        except ToolFailed as failed:
            return End(failed.code, 1011, failed.message)
        except Exception as error:
            log.error("stream_failed", exc_info=error)
            return End("internal_error", 1011, "Something went wrong here. Connect again.")
        return DONE

    async def _sent(self, event: StreamEvent) -> bool:
        """Send an event; false where the client does not read."""
        try:
            async with asyncio.timeout(STALL_TIMEOUT_SECONDS):
                await self._line.send(event)
        except TimeoutError:
            return False
        except OSError:  # the client is gone, which ``left`` says as well
            await asyncio.Event().wait()
        return True

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            await self._line.beat()

    async def _send_end(self, why: End) -> bool:
        """Tell the client why it ends; false where it does not read that either."""
        with suppress(OSError):
            async with asyncio.timeout(_LAST_EVENT_SECONDS):
                await self._line.end(why)
            return True
        return False


async def _head(send: Send, headers: Headers) -> None:
    kind = (b"content-type", b"text/event-stream")
    await send(
        {"type": "http.response.start", "status": 200, "headers": [kind, NOT_KEPT, *headers]}
    )
    await send({"type": "http.response.body", "body": b""})


async def _stopped(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
