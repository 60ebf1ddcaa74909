"""A load generator: kept-alive connections that each send their next request at once.

``python -m benchmarks.load '{"port": 1, "era": "modern", ...}'`` (see :class:`Load`) prints
what :func:`run` returns. It runs in its own process, so that it can have its own core,
and speaks HTTP on the socket itself: a client library would cost more than what is measured.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.processes import CLIENT_CORE, cpu_seconds, pin
from benchmarks.wire import Checker, Era, Kind, bodies, framed, handshake, head, initialized

WARM_UP = 100
"""Calls before the clock starts."""


@dataclass(frozen=True, slots=True)
class Load:
    """What to send.

    Attributes:
        port: where the server listens on 127.0.0.1.
        era: the protocol era; a legacy connection begins with a handshake of its own.
        kind: which request.
        connections: how many send at the same time.
        seconds: how long, after the warm-up.
        token: a bearer token to send along, or nothing for an anonymous caller.
    """

    port: int
    era: Era
    kind: Kind = "call"
    connections: int = 1
    seconds: float = 0.4
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of it.

    Attributes:
        rate: answered calls in a second.
        p50: half of the calls took no longer, in milliseconds.
        p99: ninety-nine of a hundred took no longer, in milliseconds.
        cpu: what the server's process worked for one call, in microseconds; unlike the others it
            does not grow while the machine does other people's work.
    """

    rate: float
    p50: float
    p99: float
    cpu: float


def measured(load: Load, server: int) -> Figures:
    """Run a load in a process of its own.

    Args:
        load: what to send.
        server: the process id of the server.

    Raises:
        RuntimeError: an answer was wrong, or the server went away.
    """
    before = cpu_seconds(server)
    command = [sys.executable, "-m", "benchmarks.load", json.dumps(asdict(load))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"{load}: {done.stderr.strip()[-2000:]}")
    calls, rate, p50, p99 = json.loads(done.stdout)
    return Figures(rate, p50, p99, cpu=(cpu_seconds(server) - before) / calls * 1e6)


def middle(rounds: list[Figures]) -> Figures:
    """The medians of several rounds."""
    return Figures(
        median(each.rate for each in rounds),
        median(each.p50 for each in rounds),
        median(each.p99 for each in rounds),
        median(each.cpu for each in rounds),
    )


class Connection(asyncio.Protocol):
    """One HTTP/1.1 connection on which one request is under way at a time."""

    def __init__(self) -> None:
        # uvloop's transports are none of asyncio's classes.
        self._transport: Any = None
        self._received = bytearray()
        self._answered: Callable[[bytes, bytes], None] = lambda head, body: None
        self.lost = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.lost.done():
            self.lost.set_exception(ConnectionError(f"the server closed the connection: {exc}"))
            self.lost.exception()

    def send(self, request: bytes, answered: Callable[[bytes, bytes], None]) -> None:
        """Send a request; ``answered(head, body)`` is called with its answer."""
        self._answered = answered
        self._transport.write(request)

    async def exchange(self, request: bytes) -> tuple[bytes, bytes]:
        """Send a request and await the head and body of its answer."""
        answer: asyncio.Future[tuple[bytes, bytes]] = asyncio.get_running_loop().create_future()
        self.send(request, lambda head, body: answer.set_result((head, body)))
        await asyncio.wait({answer, self.lost}, return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else await self.lost

    def data_received(self, data: bytes) -> None:
        self._received += data
        top, end, rest = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        body = _body(top.lower(), rest)
        if body is not None:
            self._received.clear()
            self._answered(bytes(top), body)

    def close(self) -> None:
        """End the connection."""
        self.lost.cancel()
        self._transport.close()


def _body(top: bytearray, rest: bytearray) -> bytes | None:
    """The body, once all of it is there: sized, empty, or chunked server-sent events."""
    _, sized, after = top.partition(b"content-length:")
    if sized:
        size = int(after.partition(b"\r\n")[0])
        return bytes(rest) if len(rest) >= size else None
    if b"transfer-encoding: chunked" not in top:
        return b""
    if not rest.endswith(b"0\r\n\r\n"):
        return None
    data = bytes(rest).partition(b"data: {")
    return b"{" + data[2].partition(b"\n")[0].rstrip(b"\r")


class Sender:
    """Sends one connection's requests, each when the one before it was answered."""

    def __init__(self, connection: Connection, load: Load, session: str, first: int) -> None:
        self._connection = connection
        self._head = head(load.era, load.kind, load.port, session, load.token)
        self._bodies = bodies(load.era, load.kind)
        self._check = Checker(load.kind)
        self._number = first
        self._until = 0.0
        self._left = 0
        self._sent = 0.0
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.latencies: list[float] = []

    async def run(self, until: float = float("inf"), most: int = sys.maxsize) -> None:
        """Send until a time of ``perf_counter``, or so many requests."""
        self.latencies = []
        self._until, self._left = until, most
        self._done = asyncio.get_running_loop().create_future()
        self._next()
        await asyncio.wait({self._done, self._connection.lost}, return_when=asyncio.FIRST_COMPLETED)
        await (self._done if self._done.done() else self._connection.lost)

    def _next(self) -> None:
        self._number += 1
        request = framed(self._head, self._bodies % {b"n": self._number})
        self._sent = perf_counter()
        self._connection.send(request, self._take)

    def _take(self, top: bytes, body: bytes) -> None:
        now = perf_counter()
        try:
            if not top.startswith(b"HTTP/1.1 200"):
                raise ValueError(f"{top!r} {body[:300]!r}")
            self._check(body, self._number)
        except (ValueError, KeyError) as error:
            self._done.set_exception(error)
            return
        self.latencies.append(now - self._sent)
        self._left -= 1
        if now >= self._until or not self._left:
            self._done.set_result(None)
        else:
            self._next()


async def _sender(load: Load, place: int) -> Sender:
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(Connection, "127.0.0.1", load.port)
    began = await session(connection, load.port) if load.era == "legacy" else ""
    return Sender(connection, load, began, place * 1_000_000)


async def session(connection: Connection, port: int) -> str:
    """Begin a legacy session on a connection; gives its id."""
    top, _ = await connection.exchange(handshake(port))
    _, found, after = top.partition(b"mcp-session-id: ")
    if not found:
        raise ValueError(f"no session: {top!r}")
    began = after.partition(b"\r\n")[0].decode()
    await connection.exchange(initialized(port, began))
    return began


async def run(load: Load) -> tuple[float, ...]:
    """Warm up, then send for the load's time.

    Returns:
        All calls, warm-up included; and without it calls per second, p50 and p99.
    """
    senders = [await _sender(load, place) for place in range(load.connections)]
    each = -(-WARM_UP // load.connections)
    await asyncio.gather(*(sender.run(most=each) for sender in senders))
    started = perf_counter()
    await asyncio.gather(*(sender.run(until=started + load.seconds) for sender in senders))
    took = perf_counter() - started
    latencies = sorted(one for sender in senders for one in sender.latencies)
    at = [latencies[int(len(latencies) * share)] * 1000 for share in (0.5, 0.99)]
    return each * load.connections + len(latencies), len(latencies) / took, *at


def main() -> None:
    """Run the load that the command line describes."""
    import uvloop

    pin(CLIENT_CORE)
    print(json.dumps(uvloop.run(run(Load(**json.loads(sys.argv[1]))))))


if __name__ == "__main__":
    main()
