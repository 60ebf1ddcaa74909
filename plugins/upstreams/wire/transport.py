"""What carries messages: the port that Streamable HTTP, HTTP+SSE and stdio stand behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from plugins.upstreams.wire.call import Call
from plugins.upstreams.wire.calls import Calls
from plugins.upstreams.wire.connection import NO_HEADERS, TransportName
from plugins.upstreams.wire.errors import WireError
from plugins.upstreams.wire.messages import Message

Messages = AsyncGenerator[Message]


class Transport(Protocol):
    """Carries messages to one server and back.

    Attributes:
        name: as ``Connection.transport_name``.
        cancels_by_closing: whether leaving a request's answer tells the server so (2026-07-28 over
            HTTP), or a notification must.
    """

    name: TransportName
    cancels_by_closing: bool

    async def attach(self, calls: Calls) -> None:
        """Begin, with the calls that shared channels belong to.

        Raises:
            WireError: there is no connection.
        """

    def open(
        self, message: Message, call: Call, headers: Mapping[str, str], *, bounded: bool = True
    ) -> AbstractAsyncContextManager[AsyncIterator[Message]]:
        """Send a request, and give what comes for it, its answer included.

        Args:
            message: the request.
            call: the same, as it is counted.
            headers: further HTTP headers.
            bounded: whether the limits of a reply hold; not for a stream that stays open.

        Raises:
            WireError: it was not taken, or the answer broke off.
        """

    async def send(self, message: Message, headers: Mapping[str, str] = NO_HEADERS) -> None:
        """Send what nothing answers: a notification, or an answer to a question.

        Raises:
            WireError: it was not taken.
        """

    def agreed(self, version: str, *, modern: bool) -> None:
        """The revision has been negotiated."""

    async def listen(self, opened: asyncio.Event) -> None:
        """Hear what a legacy server says outside of requests, for as long as it offers that.

        Args:
            opened: set as soon as nothing is missed any more.
        """

    async def ended(self) -> WireError:
        """Wait until it is of no more use; gives the reason."""

    async def close(self) -> None:
        """End it."""
