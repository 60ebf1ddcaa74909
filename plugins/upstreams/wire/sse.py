"""HTTP+SSE of 2024-11-05: one stream of events, and a second address that takes messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from gateway.toolkit.background import cancel
from plugins.upstreams.wire.bodies import events_of
from plugins.upstreams.wire.calls import Calls
from plugins.upstreams.wire.connection import TransportName
from plugins.upstreams.wire.duplex import Duplex
from plugins.upstreams.wire.errors import CLOSED, ConnectionLost, NotMcp, TimedOut, WireError
from plugins.upstreams.wire.events import EventReader
from plugins.upstreams.wire.http import EVENTS, JSON, Channel, kind_of, refused
from plugins.upstreams.wire.messages import decode

if TYPE_CHECKING:
    import aiohttp


class HttpSse(Duplex):
    """The transport of HTTP+SSE.

    Args:
        channel: carries its requests.
    """

    name: TransportName = "http+sse"

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel.limits)
        self._channel = channel
        self._endpoint: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._reading: asyncio.Task[None] | None = None

    async def attach(self, calls: Calls) -> None:
        """Open the stream, and learn the address for messages.

        Raises:
            WireError: there is no such stream.
        """
        self.calls = calls
        self._reading = asyncio.create_task(self._read())
        try:
            async with asyncio.timeout(self.limits.connect_s):
                await asyncio.shield(self._endpoint)
        except TimeoutError:
            raise TimedOut("The server did not say where it takes messages.") from None

    async def _read(self) -> None:
        try:
            async with self._stream() as response:
                await self._read_events(response)
            raise ConnectionLost("The server closed its stream of events.")
        except WireError as error:
            self.lost(error)
            if not self._endpoint.done():
                self._endpoint.set_exception(error)
                self._endpoint.exception()  # seen, should nobody wait any more

    @asynccontextmanager
    async def _stream(self) -> AsyncGenerator[aiohttp.ClientResponse]:
        async with self._channel.ask("GET", {"accept": EVENTS}) as response:
            if response.status >= 400:
                raise refused(response)
            if kind_of(response) != EVENTS:
                raise NotMcp("The server answered a GET with something else than events.")
            yield response

    async def _read_events(self, response: aiohttp.ClientResponse) -> None:
        reader = EventReader(self.limits.message_bytes)
        async with aclosing(events_of(response, reader)) as events:
            async for event in events:
                if event.kind == "endpoint" and not self._endpoint.done():
                    location = event.data.decode(errors="replace").strip()
                    self._endpoint.set_result(self._channel.same_origin(location))
                elif event.kind == "message" and event.data:
                    await self.heard(decode(event.data))

    async def write(self, data: bytes) -> None:
        """Post one message; what it is answered comes on the stream."""
        url = await asyncio.shield(self._endpoint)
        async with self._channel.ask("POST", {"content-type": JSON}, data, url) as response:
            if response.status >= 400:
                raise refused(response)

    async def close(self) -> None:
        """Close the stream and every connection."""
        self.lost(ConnectionLost(CLOSED))
        if self._reading is not None:
            await cancel(self._reading)
        if not self._endpoint.done():
            self._endpoint.cancel()
        await self._channel.close()
