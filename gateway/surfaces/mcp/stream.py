"""One answer on its way out: plain JSON where the work is quick and quiet, else SSE.

The response stays uncommitted until the work sends a message of its own or has been silent for
fifteen seconds; until then an error still gets its HTTP status. Work that takes longer has a
second task beside it, so that a client that leaves cancels the work (2026-07-28: it must).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from pydantic_core import to_json
from starlette.types import Receive, Send

from gateway.pipeline.json_text import UNSENDABLE, sendable
from gateway.surfaces.http.responses import Headers, send_json
from gateway.toolkit.first_step import Done, begin

MAX_WAITING_MESSAGES = 1024
"""Messages that may wait for a slow reader; then the outbox closes."""
QUICK_ANSWER_SECONDS = 0.02
"""Seconds in which a plain answer needs no watching of the connection."""
STREAM_PING_SECONDS = 15.0
"""Seconds of silence after which an event stream carries a comment, for proxies' sake."""

SSE_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Reply(NamedTuple):
    """A finished JSON-RPC response: its bytes, and the HTTP status and headers it has alone."""

    body: bytes
    status: int = 200
    headers: Headers = ()


class Outbox:
    """Messages that the work sends before its reply, in order.

    It closes when the client leaves, and where it reads so slowly that
    :data:`MAX_WAITING_MESSAGES` wait: nothing more is taken then, and what waits is still sent.

    Attributes:
        closed: whether messages are no longer taken.
    """

    def __init__(self) -> None:
        self.closed = False

    # Most calls send nothing before their reply, and have neither made.

    @cached_property
    def frames(self) -> asyncio.Queue[bytes]:
        """What waits to be sent."""
        return asyncio.Queue(MAX_WAITING_MESSAGES)

    @cached_property
    def _end(self) -> asyncio.Event:
        return asyncio.Event()

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Outbox:
        """The outbox of a request; a closed one where the client takes plain JSON alone."""
        outbox = cls()
        accept = headers.get("accept", "*/*")
        if not ("text/event-stream" in accept or "*/*" in accept or "text/*" in accept):
            outbox.close()
        return outbox

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return "frames" not in self.__dict__ or self.frames.empty()

    def close(self) -> None:
        """Take no more messages."""
        self.closed = True
        if "_end" in self.__dict__:
            self._end.set()

    async def wait_closed(self) -> None:
        """Wait until messages are no longer taken."""
        if not self.closed:
            await self._end.wait()

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a JSON-RPC message; dropped where the outbox is closed."""
        if self.closed:
            return
        try:
            self.frames.put_nowait(encoded(message))
        except asyncio.QueueFull:
            self.close()


def encoded(message: Mapping[str, Any]) -> bytes:
    """A JSON-RPC message as JSON."""
    try:
        return to_json(message, inf_nan_mode="null")
    except UNSENDABLE:
        return to_json(sendable(message), inf_nan_mode="null")


def event(data: bytes) -> bytes:
    """A JSON-RPC message, written out, as a server-sent event."""
    return b"event: message\ndata: " + data + b"\n\n"


async def answer(
    work: Coroutine[Any, Any, Reply],
    outbox: Outbox,
    receive: Receive,
    send: Send,
    *,
    goes_on: bool = False,
) -> None:
    """Run the work and write what comes of it.

    Args:
        work: ends in the reply; must not raise.
        outbox: where the work puts messages before its reply.
        receive: the ASGI channel, its body already read; tells when the client leaves.
        send: the ASGI channel.
        goes_on: whether the work goes on when its client leaves (2025-11-25 and older), rather
            than being cancelled (2026-07-28).
    """
    first = begin(work)
    if isinstance(first, Done) and outbox.is_empty:  # the rule; nothing is there to be watched
        outbox.close()
        return await send_json(send, first.value.body, first.value.status, first.value.headers)
    watch = _Watch(outbox, receive, send, goes_on=goes_on)
    try:
        reply = first.value if isinstance(first, Done) else await first
        await watch.finish(reply)
    except asyncio.CancelledError:
        if not watch.uncancelled():
            raise
    finally:
        watch.close()
    return None


class _Watch:
    """Keeps an eye on the connection of work that runs in this task, once it takes longer.

    Quick work is the rule, and is spared a second task.
    """

    def __init__(self, outbox: Outbox, receive: Receive, send: Send, *, goes_on: bool) -> None:
        self._outbox = outbox
        self._receive = receive
        self._send = send
        self._goes_on = goes_on
        self._working = asyncio.current_task()
        self._cancelled = False
        self._watcher: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        self._reply: asyncio.Future[Reply] = loop.create_future()
        self._timer = loop.call_later(QUICK_ANSWER_SECONDS, self._begin)

    async def finish(self, reply: Reply) -> None:
        """Send the reply, after every message that was sent before it."""
        self._timer.cancel()
        if self._watcher is None and self._outbox.is_empty:
            return await send_json(self._send, reply.body, reply.status, reply.headers)
        self._reply.set_result(reply)
        if self._watcher is None:
            self._begin()
        if self._watcher is not None:
            await self._watcher
        return None

    def uncancelled(self) -> bool:
        """Whether the work was cancelled because its client left, and not by anyone else."""
        if not self._cancelled or self._working is None:
            return False
        return self._working.uncancel() == 0

    def close(self) -> None:
        """Watch no longer."""
        self._timer.cancel()
        self._outbox.close()
        if self._watcher is not None:
            self._watcher.cancel()

    def _begin(self) -> None:
        self._watcher = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        await _watch(self._reply, self._outbox, self._receive, self._send)
        self._outbox.close()
        if not self._reply.done() and not self._goes_on and self._working is not None:
            self._cancelled = True
            self._working.cancel()


async def _watch(task: asyncio.Future[Reply], outbox: Outbox, receive: Receive, send: Send) -> None:
    left = asyncio.ensure_future(until_left(receive))
    frame = asyncio.ensure_future(outbox.frames.get())
    committed = False
    try:
        while not (task.done() and outbox.is_empty and not frame.done()):
            waiting: set[asyncio.Future[Any]] = (
                {frame, left} if task.done() else {task, frame, left}
            )
            done, _ = await asyncio.wait(
                waiting, timeout=STREAM_PING_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if left in done:
                return
            plain = outbox.closed and not committed
            if frame not in done and (done or plain):
                continue
            if not committed:
                committed = await _commit(send)
            await _send_event(send, frame.result() if frame in done else None)
            if frame in done:
                frame = asyncio.ensure_future(outbox.frames.get())
        reply = task.result()
        if committed:
            await _send_event(send, reply.body, last=True)
        else:
            await send_json(send, reply.body, reply.status, reply.headers)
    finally:
        left.cancel()
        frame.cancel()


async def _commit(send: Send) -> bool:
    await send({"type": "http.response.start", "status": 200, "headers": [*SSE_HEADERS]})
    return True


async def _send_event(send: Send, data: bytes | None, *, last: bool = False) -> None:
    body = b": ping\n\n" if data is None else event(data)
    await send({"type": "http.response.body", "body": body, "more_body": not last})


async def until_left(receive: Receive) -> None:
    """Return once the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
