"""One answer on its way out: plain JSON where the work is quick and quiet, else SSE.

The response stays uncommitted until the work sends a message of its own or has been silent for a
while (``reply_delivery.py``); until then an error still gets its HTTP status. Work that takes
longer has a second task beside it, so that a client that leaves cancels the work (2026-07-28: it
must), or can come back for what it has missed (2025-11-25 and older).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.types import Receive, Send

from gateway.surfaces.http.responses import send_json
from gateway.surfaces.mcp.call_messages import Outbox
from gateway.surfaces.mcp.replies import KeptReply
from gateway.surfaces.mcp.reply_delivery import Delivery, Reply
from gateway.toolkit.eager_start import Done, begin

__all__ = ["Outbox", "Reply", "answer"]

QUICK_ANSWER_SECONDS = 0.02
"""Seconds in which a plain answer needs no watching of the connection."""


async def answer(
    work: Coroutine[Any, Any, Reply],
    outbox: Outbox,
    receive: Receive,
    send: Send,
    kept: KeptReply | None = None,
) -> None:
    """Run the work and write what comes of it.

    Args:
        work: ends in the reply; must not raise.
        outbox: where the work puts messages before its reply.
        receive: the ASGI channel, its body already read; tells when the client leaves.
        send: the ASGI channel.
        kept: keeps the answer for a client that comes back; the work goes on without it then
            (2025-11-25 and older), rather than being cancelled (2026-07-28).
    """
    first = begin(work)
    if isinstance(first, Done) and outbox.is_empty:  # the rule; nothing is there to be watched
        outbox.close()
        return await send_json(send, first.value.body, first.value.status, first.value.headers)
    watch = _Watch(outbox, receive, send, kept)
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

    def __init__(
        self, outbox: Outbox, receive: Receive, send: Send, kept: KeptReply | None
    ) -> None:
        self._outbox = outbox
        self._receive = receive
        self._send = send
        self._kept = kept
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
        await Delivery(self._outbox, self._receive, self._send, self._kept).run(self._reply)
        self._outbox.close()
        if not self._reply.done() and self._kept is None and self._working is not None:
            self._cancelled = True
            self._working.cancel()
