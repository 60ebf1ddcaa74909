"""How one answer is written: plain JSON, or an event stream that may outlive its connection."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from starlette.types import Receive, Send

from gateway.pipeline.json_chunks import Body
from gateway.surfaces.http.responses import Headers, send_body, send_json
from gateway.surfaces.mcp.call_messages import Outbox
from gateway.surfaces.mcp.replies import KeptReply
from gateway.surfaces.mcp.sse import PING, SSE_HEADERS, event, until_left

STREAM_PING_SECONDS = 15.0
"""Seconds of silence after which an event stream carries a comment, for proxies' sake."""
RESUMABLE_AFTER_SECONDS = 1.0
"""Seconds of silence after which a legacy client is told how to come back for its answer."""
POLL_AFTER_SECONDS = 120.0
"""Seconds after which such a client's connection is ended, and it comes back: many a proxy cuts
a response off after five minutes, whatever it carries."""


class Reply(NamedTuple):
    """A finished JSON-RPC response: its bytes, and the HTTP status and headers it has alone."""

    body: Body
    status: int = 200
    headers: Headers = ()


class Delivery:
    """Writes the messages of some work, and then its reply.

    Args:
        outbox: where the work puts its messages.
        receive: the ASGI channel, its body already read; tells when the client leaves.
        send: the ASGI channel.
        kept: keeps what is written, where the client can come back for it.
    """

    def __init__(
        self, outbox: Outbox, receive: Receive, send: Send, kept: KeptReply | None
    ) -> None:
        self._outbox = outbox
        self._receive = receive
        self._send = send
        self._kept = kept
        self._committed = False
        self._connected = True
        self._polled_at = asyncio.get_running_loop().time() + POLL_AFTER_SECONDS

    async def run(self, reply: asyncio.Future[Reply]) -> None:
        """Write until the reply is written, or the client has left and cannot come back."""
        left = asyncio.ensure_future(until_left(self._receive))
        frame = asyncio.ensure_future(self._outbox.frames.get())
        try:
            while not (reply.done() and self._outbox.is_empty and not frame.done()):
                happened = await self._next(reply, frame, left)
                if self._connected and left in happened and not self._let_go():
                    return
                if frame in happened:
                    await self._put(frame.result())
                    frame = asyncio.ensure_future(self._outbox.frames.get())
                elif not happened:
                    await self._silence()
            await self._finish(reply.result())
        finally:
            left.cancel()
            frame.cancel()

    async def _next(self, *awaited: asyncio.Future[Any]) -> set[asyncio.Future[Any]]:
        reply, frame, left = awaited
        waiting = {frame} | ({left} if self._connected else set())
        if not reply.done():
            waiting.add(reply)
        timeout = self._patience()
        done, _ = await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        return done

    def _patience(self) -> float:
        """Seconds of silence until something is to be done about it."""
        primes = self._kept is not None and self._kept.primes and not self._outbox.closed
        if not self._committed:
            return RESUMABLE_AFTER_SECONDS if primes else STREAM_PING_SECONDS
        if not (primes and self._connected and self._is_held()):
            return STREAM_PING_SECONDS
        left = self._polled_at - asyncio.get_running_loop().time()
        return max(0.0, min(STREAM_PING_SECONDS, left))

    async def _silence(self) -> None:
        if self._outbox.closed and not self._committed:  # it is to be plain JSON
            return
        if not self._committed:
            await self._commit()
            return
        if self._kept is not None:
            await self._kept.touch()
            self._see_who_reads()
        due = asyncio.get_running_loop().time() >= self._polled_at
        if due and self._kept is not None and self._kept.primes and self._kept.held:
            await self._write(b"", last=True)
            self._let_go()
        else:
            await self._write(PING)

    async def _commit(self) -> None:
        self._committed = True
        first = b"" if self._kept is None else await self._kept.begin()
        await self._send({"type": "http.response.start", "status": 200, "headers": [*SSE_HEADERS]})
        await self._write(first or PING)

    async def _put(self, data: Body, *, last: bool = False) -> None:
        if not self._committed:
            await self._commit()
        kept = self._kept
        await self._write(await kept.add(data, last=last) if kept else event(data), last=last)
        self._see_who_reads()

    async def _finish(self, reply: Reply) -> None:
        if self._committed:
            await self._put(reply.body, last=True)
        else:
            await send_json(self._send, reply.body, reply.status, reply.headers)

    async def _write(self, body: Body, *, last: bool = False) -> None:
        if self._connected:
            await send_body(self._send, body, last=last)

    def _see_who_reads(self) -> None:
        if not self._connected and not self._is_held():
            self._outbox.close()  # nobody will read it, and nobody can be asked

    def _let_go(self) -> bool:
        """Go on without the connection; False where nobody could come back."""
        self._connected = False
        return self._committed and self._is_held()

    def _is_held(self) -> bool:
        return self._kept is not None and self._kept.held
