"""Messages of one call on their way to its client, before the reply."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from gateway.surfaces.mcp.sse import MAX_WAITING_MESSAGES, encoded

__all__ = ["Outbox"]


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
