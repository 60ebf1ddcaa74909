"""The two forms of a stream on the wire: server-sent events, and a WebSocket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pydantic_core import to_json
from starlette.types import Receive, Send

from gateway.contract import StreamEvent
from gateway.surfaces.http.responses import Headers

RECONNECT_MS = 3000
"""Milliseconds after which a client whose connection was lost connects again."""
NOT_KEPT = (b"cache-control", b"no-store")
"""No cache keeps a stream, nor what was said in place of one."""
_MAX_REASON_BYTES = 123
"""Bytes of a WebSocket's close reason (RFC 6455, section 5.5)."""
_SSE: Headers = (
    (b"content-type", b"text/event-stream"),
    NOT_KEPT,
    (b"x-accel-buffering", b"no"),  # nginx
)


@dataclass(frozen=True, slots=True)
class End:
    """Why a stream ends.

    Attributes:
        reason: a short snake_case word, for programs.
        code: the WebSocket's close code (RFC 6455, section 7.4; IANA's registry).
        message: what to do, for people.
    """

    reason: str
    code: int
    message: str = ""


class Line(Protocol):
    """The way to one client."""

    async def begin(self, headers: Headers) -> None:
        """Say that the stream is there.

        Args:
            headers: what the answer carries beside the form's own.
        """
        ...

    async def send(self, event: StreamEvent) -> None:
        """Send an event; waits while the client does not read."""
        ...

    async def beat(self) -> None:
        """Send a sign of life, for proxies that close what is silent."""
        ...

    async def end(self, why: End) -> None:
        """Say that the stream ends."""
        ...

    async def left(self) -> None:
        """Return once the client is gone."""
        ...


class _Connected:
    """What both forms have.

    Args:
        receive: the ASGI channel.
        send: likewise.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send


class SseLine(_Connected):
    """Server-sent events (WHATWG HTML, section 9.2)."""

    async def begin(self, headers: Headers) -> None:
        """As :meth:`Line.begin`."""
        start = {"type": "http.response.start", "status": 200, "headers": [*_SSE, *headers]}
        await self._send(start)
        await self._write(b"retry: %d\n\n" % RECONNECT_MS)

    async def send(self, event: StreamEvent) -> None:
        """As :meth:`Line.send`."""
        await self._write(event.sse)

    async def beat(self) -> None:
        """As :meth:`Line.beat`: a comment."""
        await self._write(b": \n\n")

    async def end(self, why: End) -> None:
        """As :meth:`Line.end`: an event of the kind ``end``, where the stream was not done."""
        data = to_json({"reason": why.reason, "message": why.message})
        last = b"event: end\ndata: " + data + b"\n\n" if why.message else b""
        await self._send({"type": "http.response.body", "body": last})

    async def left(self) -> None:
        """As :meth:`Line.left`."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _write(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": True})


class SocketLine(_Connected):
    """A WebSocket (RFC 6455): each event is a text message. The server itself sends pings."""

    async def begin(self, headers: Headers) -> None:
        """As :meth:`Line.begin`."""
        await self._send({"type": "websocket.accept", "headers": [NOT_KEPT, *headers]})

    async def send(self, event: StreamEvent) -> None:
        """As :meth:`Line.send`."""
        await self._send({"type": "websocket.send", "text": event.message})

    async def beat(self) -> None:
        """As :meth:`Line.beat`; there is nothing to do."""

    async def end(self, why: End) -> None:
        """As :meth:`Line.end`: the close code, and the reason."""
        reason = f"{why.reason}: {why.message}".encode()[:_MAX_REASON_BYTES].decode(errors="ignore")
        await self._send({"type": "websocket.close", "code": why.code, "reason": reason})

    async def left(self) -> None:
        """As :meth:`Line.left`; what a client says is not listened to."""
        while (await self._receive())["type"] != "websocket.disconnect":
            pass
