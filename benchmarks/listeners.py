"""Clients of the ``streams`` section: many that listen, and some that call. Small, for the many.

``python -m benchmarks.listeners PORT SECONDS`` calls again and again, in a process where nothing
else is done, and prints when each call began and how long it took.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.wire import VERSIONS, framed, handshake

ERAS = ("modern", "legacy")
PER_ADDRESS, ADDRESSES_PER_NETWORK = 100, 4
"""As many as a portal as shipped takes from one address, and from one network."""
PROBER = 20_000
"""The number of the client that only measures."""
PROBE_PAUSE_SECONDS = 0.002
_META = {
    "io.modelcontextprotocol/protocolVersion": VERSIONS["modern"],
    "io.modelcontextprotocol/clientCapabilities": {},
}
_LISTEN = {"notifications": {"toolsListChanged": True}, "_meta": _META}
_TERM = {"name": "define_term", "arguments": {"term": "portal"}, "_meta": _META}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a client connects to, and from.

    Attributes:
        port: the portal's.
        number: the client's.
    """

    port: int
    number: int

    async def connect(self, protocol: type[Any]) -> Any:
        """A connection from an address that has room for it still."""
        network, address = divmod(self.number // PER_ADDRESS, ADDRESSES_PER_NETWORK)
        source = (f"127.1.{network}.{address + 1}", 0)
        loop = asyncio.get_running_loop()
        _, made = await loop.create_connection(protocol, "127.0.0.1", self.port, local_addr=source)
        return made


def call_for(port: int) -> bytes:
    """The request of a small call."""
    return _modern(port, "tools/call", _TERM, {"mcp-name": "define_term"})


class _Connection(asyncio.Protocol):
    """Gathers what comes in until somebody has waited for it."""

    def __init__(self) -> None:
        self._read = b""
        self._wanted = b""
        self._found: asyncio.Future[float] | None = None
        self.lost = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self._found is None:
            return
        self._read += data
        if self._wanted in self._read and not self._found.done():
            self._found.set_result(time.perf_counter())

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = True
        if self._found is not None and not self._found.done():
            self._found.set_exception(ConnectionError(f"lost after {self._read[-300:]!r}"))

    def expect(self, wanted: bytes) -> asyncio.Future[float]:
        """Done once so much has come in from now on; gives the time."""
        self._read, self._wanted = b"", wanted
        self._found = asyncio.get_running_loop().create_future()
        return self._found

    async def asked(self, request: bytes, wanted: bytes) -> bytes:
        """Send a request and wait for a part of its answer; gives what has come in."""
        found = self.expect(wanted)
        self.transport.write(request)
        async with asyncio.timeout(60):
            await found
        self._found = None
        return self._read


class Listener:
    """One client that only listens.

    Args:
        address: where from.
        era: of the protocol.
        connection: on which it listens.
        session: its session's id, in the older era.
    """

    __slots__ = ("_address", "_connection", "_era", "_session")

    def __init__(self, address: Address, era: str, connection: _Connection, session: str) -> None:
        self._address = address
        self._era = era
        self._connection = connection
        self._session = session

    @classmethod
    async def opened(cls, address: Address, era: str, session: str = "") -> Listener:
        """A client whose stream has begun."""
        connection = await address.connect(_Connection)
        if era == "modern":
            request = _modern(address.port, "subscriptions/listen", _LISTEN, {})
            await connection.asked(request, b"subscriptions/acknowledged")
            return cls(address, era, connection, session)
        if not session:
            begun = await connection.asked(handshake(address.port), b"}}")
            session = _header(begun, b"mcp-session-id")
        await connection.asked(_get(address.port, session), b": ping")
        return cls(address, era, connection, session)

    def expect(self, wanted: bytes) -> asyncio.Future[float]:
        """Done once it has heard something; gives the time."""
        if self._connection.lost:
            raise ConnectionError("a stream has ended by itself")
        return self._connection.expect(wanted)

    def close(self) -> None:
        """Leave, as a connection that is lost does."""
        self._connection.transport.abort()

    async def again(self) -> Listener:
        """The same client, connected anew."""
        return await self.opened(self._address, self._era, self._session)


class Caller:
    """One client that calls."""

    def __init__(self, port: int, connection: _Connection) -> None:
        self._request = call_for(port)
        self._connection = connection

    @classmethod
    @asynccontextmanager
    async def connected(cls, address: Address) -> AsyncGenerator[Caller]:
        """A client with a connection that is kept."""
        connection = await address.connect(_Connection)
        try:
            yield cls(address.port, connection)
        finally:
            connection.transport.abort()

    async def call(self) -> float:
        """Call once; gives the seconds, and raises ``ValueError`` where the answer is wrong."""
        begun = time.perf_counter()
        answer = await self._connection.asked(self._request, b'"jsonrpc"')
        took = time.perf_counter() - begun
        if b"HTTP/1.1 200" not in answer[:20] or b'"error"' in answer:
            raise ValueError(f"wrong answer: {answer[:300]!r}")
        return took


def _modern(port: int, method: str, params: Mapping[str, Any], more: Mapping[str, str]) -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {
        "content-type": "application/json",
        "mcp-protocol-version": VERSIONS["modern"],
        "mcp-method": method,
        **more,
    }
    return framed(_head("POST", port, headers), json.dumps(message).encode())


def _get(port: int, session: str) -> bytes:
    headers = {"mcp-protocol-version": VERSIONS["legacy"], "mcp-session-id": session}
    return _head("GET", port, headers) + b"\r\n"


def _head(method: str, port: int, headers: Mapping[str, str]) -> bytes:
    every = {
        "host": f"127.0.0.1:{port}",
        "accept": "application/json, text/event-stream",
        **headers,
    }
    lines = [f"{name}: {value}" for name, value in every.items()]
    return "\r\n".join([f"{method} /mcp HTTP/1.1", *lines, ""]).encode()


def _header(answer: bytes, name: bytes) -> str:
    for line in answer.split(b"\r\n"):
        found, _, value = line.partition(b":")
        if found.lower() == name:
            return value.strip().decode()
    raise ValueError(f"no {name.decode()} in {answer[:300]!r}")


async def probe(port: int, seconds: float) -> list[tuple[float, float]]:
    """Call again and again; gives when each call began, and its seconds."""
    times, until = [], time.perf_counter() + seconds
    async with Caller.connected(Address(port, PROBER)) as caller:
        while (begun := time.perf_counter()) < until:
            times.append((begun, await caller.call()))
            await asyncio.sleep(PROBE_PAUSE_SECONDS)
    return times


if __name__ == "__main__":
    print(json.dumps(asyncio.run(probe(int(sys.argv[1]), float(sys.argv[2])))))
