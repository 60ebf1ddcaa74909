"""Serves the streams that plugins' APIs declare: as SSE, and over a WebSocket on the same path.

Until a stream begins it is a request like any other, with the same checks, limits, audit record
and words. From then on there is no buffer in between: the next event is asked for when the client
has taken the one before. A client that reads nothing costs nobody anything, and is let go.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing, suppress
from functools import partial
from typing import Any

from starlette.types import Receive, Scope, Send

from gateway.catalog.items import Item
from gateway.contract import Caller, Stream, StreamEvent, ToolFailed
from gateway.errors import PortalError
from gateway.observability.logs import get_logger
from gateway.pipeline.call import Target
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http.open_streams import OpenStreams, Why
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.http.responses import Headers, send_json
from gateway.surfaces.rest.endpoint import Endpoint, redacted
from gateway.surfaces.rest.parameters import streamed
from gateway.surfaces.rest.stream_lines import NOT_KEPT, End, Line, SocketLine, SseLine

STALL_TIMEOUT_SECONDS = 30.0
"""Seconds after which a client that reads nothing is let go."""
_LAST_EVENT_SECONDS = 2.0
"""Seconds in which such a one may take its last event."""
_DISCONNECT_SECONDS = 90.0
"""Seconds in which its connection breaks (``gateway/server/server.py``)."""
_HEADER = "last-event-id"

DONE = End("done", 1000)
STOPPING = End("stopping", 1001, "The portal stops. Connect again in a moment.")
CHANGED = End("access_changed", 1008, "Your access has changed. Connect again.")
SLOW = End("too_slow", 1013, "You read too slowly. Connect again with the last event's id.")

log = get_logger(__name__)


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
            places = None if scope.get("method") == "HEAD" else self._places
            opening = _Opening(self._stream, places, partial(self._allows, context))
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
            await _Flow(line, events, opening).run(opening.ended)
        return None

    def _stream_target(self, context: CallContext, opening: _Opening) -> Target:
        opening.item = self._item(context)
        return Target(
            opening.item, opening.run, self._parsed, lambda *nothing: b"", kind=self._kind
        )

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
        may: whether the caller may still read it.

    Attributes:
        item: what the caller may use.
        ended: done once the stream is to end for the portal's sake; None where no place is held.
        events: what the plugin sends; None where there is nothing to send.
        line: the way to the client, once it is there.
    """

    def __init__(self, stream: Stream, places: OpenStreams | None, may: Callable[[], bool]) -> None:
        self._stream = stream
        self._places = places
        self._last: str | None = None
        self._beating: asyncio.Future[None] | None = None
        self.allowed = may
        self.item: Item | None = None
        self.ended: asyncio.Future[End] | None = None
        self.events: AsyncGenerator[StreamEvent, None] | None = None
        self.line: Line | None = None

    async def arguments(
        self, scope: Scope, context: CallContext, stack: AsyncExitStack, *, socket: bool
    ) -> dict[str, Any]:
        """The parameters; holds a place until the stack ends."""
        raw, last = streamed(scope, self._stream.params, socket=socket)
        self._last = context.headers.get(_HEADER) or last
        if self._places is not None and self.item is not None:
            stack.enter_context(self._places.place(context, self, self.item.key))
            self.ended = asyncio.get_running_loop().create_future()
        return raw

    async def run(self, params: Any, caller: Caller) -> None:
        """Let the plugin open it."""
        if self.ended is not None:
            self.events = await self._stream.open(params, caller, self._last)

    # What looks after open streams calls these (:class:`OpenStream`).

    def end(self, why: Why) -> None:
        """Have the stream end."""
        if self.ended is not None and not self.ended.done():
            self.ended.set_result(STOPPING if why is Why.STOPPING else CHANGED)

    def beat(self) -> None:
        """Send a sign of life, unless the one before is still on its way."""
        if self.line is not None and (self._beating is None or self._beating.done()):
            self._beating = asyncio.ensure_future(self.line.beat())

    async def stop_beating(self) -> None:
        """Send no sign of life any more."""
        self.line = None
        if self._beating is not None:
            await _stopped(self._beating)


class _Flow:
    """One stream on its way.

    Args:
        line: the way to the client.
        events: what goes there.
        opening: the stream; says when it is to end for the portal's sake.
    """

    def __init__(
        self, line: Line, events: AsyncGenerator[StreamEvent, None], opening: _Opening
    ) -> None:
        self._line = line
        self._events = events
        self._opening = opening

    async def run(self, ended: asyncio.Future[End]) -> None:
        """Send events until there are no more, the client is gone, or it may not go on.

        Args:
            ended: says why the portal ends it, once that is so.
        """
        left, writing = (
            asyncio.ensure_future(self._line.left()),
            asyncio.ensure_future(self._write()),
        )
        self._opening.line = self._line
        try:
            whys: set[asyncio.Future[Any]] = {left, ended, writing}
            await asyncio.wait(whys, return_when=asyncio.FIRST_COMPLETED)
            if left.done():
                return
            why = (ended if ended.done() else writing).result()
            await _stopped(writing)
            await self._opening.stop_beating()
            if not await self._send_end(why):
                await asyncio.wait({left}, timeout=_DISCONNECT_SECONDS)
        finally:
            await self._opening.stop_beating()
            await _stopped(left, writing)

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
