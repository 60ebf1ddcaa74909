"""One request that runs."""

from __future__ import annotations

import asyncio

from plugins.upstreams.wire.connection import Back
from plugins.upstreams.wire.errors import WireError
from plugins.upstreams.wire.messages import Message

MAX_WAITING = 1000
"""Notifications that wait for a request's caller before more are dropped."""


class Call:
    """One request that runs.

    Args:
        request_id: its JSON-RPC id, which is its progress token too.
        back: hears what the server says.
        clock: the time limit, which stands still while a question is open.
        stands: whether it is a stream that stays open, and nothing that a person waits for.
    """

    def __init__(
        self, request_id: int, back: Back | None, clock: asyncio.Timeout, *, stands: bool = False
    ) -> None:
        self.id = request_id
        self.back = back
        self.stands = stands
        self.inbox: asyncio.Queue[Message | WireError] = asyncio.Queue()
        self._clock = clock
        self._open = 0
        self._is_over = False
        self._left_s = 0.0

    def put(self, message: Message | WireError) -> bool:
        """Keep a message for whoever waits for this call; False if too many wait already."""
        if self.inbox.qsize() >= MAX_WAITING and isinstance(message, dict) and "method" in message:
            return False
        self.inbox.put_nowait(message)
        return True

    def end(self) -> None:
        """Nobody waits for it any more; its clock stands still for ever."""
        self._is_over = True

    def stop_clock(self) -> None:
        """A question is open."""
        when = self._clock.when()
        if self._open == 0 and when is not None:
            self._left_s = when - asyncio.get_running_loop().time()
            self._clock.reschedule(None)
        self._open += 1

    def start_clock(self) -> None:
        """A question is answered; the last one lets the clock go on."""
        self._open -= 1
        if self._open == 0 and not self._is_over and not self._clock.expired():
            self._clock.reschedule(asyncio.get_running_loop().time() + self._left_s)
