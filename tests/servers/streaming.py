"""A portal served over loopback as ``porch serve`` does, and clients that read its streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect

from gateway.server.server import _Public, _uvicorn
from gateway.testing.portal import TestPortal
from tests.servers.serving import bound

PATIENCE = 60.0
"""Seconds after which a test that waits has failed."""


@dataclass(frozen=True)
class Event:
    """One event as a client sees it.

    Attributes:
        id: the last id that was said, as a browser remembers it.
    """

    id: str | None
    event: str
    data: Any


class Listener:
    """Reads an event stream as a browser does (WHATWG HTML, section 9.2.6).

    Attributes:
        last: the id to go on from.
        comments: lines that are no events.
    """

    def __init__(self, response: httpx2.Response, last: str | None = None) -> None:
        self.response = response
        self.last = last
        self.comments: list[str] = []
        self._events = self._parsed(response.aiter_lines())

    async def next(self) -> Event:
        """The next event; ``StopAsyncIteration`` where the stream has ended."""
        async with asyncio.timeout(PATIENCE):
            return await anext(self._events)

    async def rest(self) -> list[Event]:
        """All events up to the end."""
        async with asyncio.timeout(PATIENCE):
            return [each async for each in self._events]

    async def _parsed(self, lines: AsyncIterator[str]) -> AsyncGenerator[Event]:
        id, event, data = self.last, "message", []
        async for line in lines:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if line and not name:
                self.comments.append(value)
            elif name == "id":
                id = value
            elif name == "event":
                event = value
            elif name == "data":
                data.append(value)
            elif not line:
                self.last = id
                if data:
                    yield Event(id, event, json.loads("\n".join(data)))
                event, data = "message", []


@dataclass
class Served:
    """A portal at an address.

    Attributes:
        portal: what is served.
        address: ``127.0.0.1:PORT``.
    """

    portal: TestPortal
    address: str

    def headers(self, who: str) -> dict[str, str]:
        """The credential of a caller."""
        told = self.portal.http(who).headers
        return {"authorization": told["authorization"]} if "authorization" in told else {}

    @asynccontextmanager
    async def listen(
        self, path: str, who: str = "members", last: str | None = None, **params: Any
    ) -> AsyncGenerator[Listener]:
        """Open an event stream, whatever it is answered with."""
        headers = self.headers(who) | ({"last-event-id": last} if last is not None else {})
        async with httpx2.AsyncClient(timeout=PATIENCE) as client:
            url = f"http://{self.address}{path}"
            async with client.stream(
                "GET", url, headers=headers, params=params or None
            ) as response:
                yield Listener(response, last)

    async def get(self, path: str, who: str = "members", **params: Any) -> httpx2.Response:
        """What a request is answered with that is no stream."""
        async with httpx2.AsyncClient(timeout=PATIENCE) as client:
            headers = self.headers(who) | params.pop("headers", {})
            method = params.pop("method", "GET")
            url = f"http://{self.address}{path}"
            return await client.request(method, url, headers=headers, params=params or None)

    @asynccontextmanager
    async def socket(
        self, path: str, who: str = "members", headers: dict[str, str] | None = None, **options: Any
    ) -> AsyncGenerator[ClientConnection]:
        """Open a WebSocket.

        Raises:
            InvalidStatus: it was refused.
        """
        given = self.headers(who) | (headers or {})
        url = f"ws://{given.pop('host', self.address)}{path}"
        options["host"], options["port"] = self.address.split(":")
        async with connect(url, additional_headers=given, proxy=None, **options) as opened:
            yield opened


async def told(socket: ClientConnection) -> Event:
    """The next event of a WebSocket."""
    async with asyncio.timeout(PATIENCE):
        said = json.loads(await socket.recv())
    return Event(said["id"], said["event"], said["data"])


@asynccontextmanager
async def over_network(portal: TestPortal) -> AsyncGenerator[Served]:
    """Serve a portal, with the server that ``porch serve`` runs, until the block ends."""
    listener = bound()
    listener.listen(128)
    server = _Public(_uvicorn(portal.app, portal.running.portal.config), portal.app.stopping)
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield Served(portal, f"127.0.0.1:{listener.getsockname()[1]}")
    finally:
        server.should_exit = True
        async with asyncio.timeout(PATIENCE):
            await serving


async def until(holds: Any) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - what is waited for is on the other side
            await asyncio.sleep(0.01)
