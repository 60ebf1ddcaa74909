"""One answer on its way out: plain JSON where the work is quick and quiet, else SSE.

The response stays uncommitted until the work sends a message of its own or has been silent for
fifteen seconds; until then an error still gets its HTTP status. Work and connection are two
tasks, so that a client that leaves cancels the work (2026-07-28: it must).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json
from starlette.types import Receive, Send

QUICK = 0.02
"""Seconds in which a plain answer needs no watching of the connection."""
PING = 15.0
"""Seconds of silence after which an event stream carries a comment, for proxies' sake."""

_JSON = (b"content-type", b"application/json")
_SSE = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished JSON-RPC response: its bytes and the HTTP status it would have alone."""

    body: bytes
    status: int = 200


class Outbox:
    """Messages that the work sends before its reply, in order."""

    def __init__(self) -> None:
        self.frames: asyncio.Queue[bytes] = asyncio.Queue()
        self.closed = False

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a JSON-RPC message; dropped where the client has left."""
        if not self.closed:
            self.frames.put_nowait(to_json(message))


Headers = tuple[tuple[bytes, bytes], ...]


async def send_json(send: Send, body: bytes, status: int = 200, headers: Headers = ()) -> None:
    """Send a whole JSON response; an empty body has no content type."""
    sized = (b"content-length", str(len(body)).encode())
    kind = (_JSON,) if body else ()
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*kind, sized, *headers],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def answer(
    work: Coroutine[Any, Any, Reply],
    outbox: Outbox,
    receive: Receive,
    send: Send,
    *,
    cancel_on_leave: bool,
    headers: Headers = (),
) -> None:
    """Run the work and write what comes of it.

    Args:
        work: ends in the reply; must not raise.
        outbox: where the work puts messages before its reply.
        receive: the ASGI channel, its body already read; tells when the client leaves.
        send: the ASGI channel.
        cancel_on_leave: whether a client that leaves cancels the work (2026-07-28), or the
            work goes on without it (2025-11-25 and older).
        headers: further response headers.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=QUICK)
        if task.done() and outbox.frames.empty():
            reply = task.result()
            await send_json(send, reply.body, reply.status, headers)
            return
        await _watch(task, outbox, receive, send, headers)
    except asyncio.CancelledError:
        task.cancel()
        raise
    finally:
        outbox.closed = True
        if not task.done():
            if cancel_on_leave:
                task.cancel()
            else:
                _keep(task)


async def _watch(
    task: asyncio.Future[Reply], outbox: Outbox, receive: Receive, send: Send, headers: Headers
) -> None:
    left = asyncio.ensure_future(_until_left(receive))
    frame = asyncio.ensure_future(outbox.frames.get())
    committed = False
    try:
        while not (task.done() and outbox.frames.empty() and not frame.done()):
            waiting: set[asyncio.Future[Any]] = (
                {frame, left} if task.done() else {task, frame, left}
            )
            done, _ = await asyncio.wait(waiting, timeout=PING, return_when=asyncio.FIRST_COMPLETED)
            if left in done:
                return
            if done and frame not in done:
                continue
            if not committed:
                committed = await _commit(send, headers)
            await _send_event(send, frame.result() if frame in done else None)
            if frame in done:
                frame = asyncio.ensure_future(outbox.frames.get())
        reply = task.result()
        if committed:
            await _send_event(send, reply.body, last=True)
        else:
            await send_json(send, reply.body, reply.status, headers)
    finally:
        left.cancel()
        frame.cancel()


async def _commit(send: Send, headers: Headers) -> bool:
    await send({"type": "http.response.start", "status": 200, "headers": [*_SSE, *headers]})
    return True


async def _send_event(send: Send, data: bytes | None, *, last: bool = False) -> None:
    body = b": ping\n\n" if data is None else b"event: message\ndata: " + data + b"\n\n"
    await send({"type": "http.response.body", "body": body, "more_body": not last})


async def stream(outbox: Outbox, closing: asyncio.Event, receive: Receive, send: Send) -> None:
    """Send an outbox as an event stream until the client leaves or ``closing`` is set."""
    left = asyncio.ensure_future(_until_left(receive))
    closed = asyncio.ensure_future(closing.wait())
    await _commit(send, ())
    await _send_event(send, None)
    frame = asyncio.ensure_future(outbox.frames.get())
    try:
        while not (left.done() or (closed.done() and not frame.done())):
            await asyncio.wait(
                {frame, left, closed}, timeout=PING, return_when=asyncio.FIRST_COMPLETED
            )
            if frame.done():
                await _send_event(send, frame.result())
                frame = asyncio.ensure_future(outbox.frames.get())
            elif not (left.done() or closed.done()):
                await _send_event(send, None)
        if not left.done():
            await send({"type": "http.response.body", "body": b""})
    finally:
        outbox.closed = True
        for task in (left, closed, frame):
            task.cancel()


async def _until_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


_working: set[asyncio.Future[Any]] = set()


def _keep(task: asyncio.Future[Any]) -> None:
    # The event loop holds tasks weakly; without this one that nobody awaits could vanish.
    _working.add(task)
    task.add_done_callback(_working.discard)


async def finish_working(seconds: float) -> None:
    """Wait for work whose client has left, at most so long, when the portal stops."""
    if _working:
        await asyncio.wait(set(_working), timeout=seconds)
