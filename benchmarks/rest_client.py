"""A client that sends requests to a REST API, each once, and times the answers.

``python -m benchmarks.rest_client`` reads a :class:`Sending` on standard input and prints what
:func:`run` returns. Like :mod:`benchmarks.load` it has a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

from benchmarks.load import Connection
from benchmarks.processes import cpu_seconds
from benchmarks.wire import framed

Request = tuple[str, str, Any]
"""Method, path, and the body as JSON or None."""


@dataclass(frozen=True, slots=True)
class Sending:
    """What to send.

    Attributes:
        port: where the server listens on 127.0.0.1.
        token: a bearer token to send along.
        requests: each is sent once.
        wanted: a field that every right answer has, and not empty.
        warm_up: how many of the first requests are not timed.
        connections: how many send at the same time.
        server: the server's process, whose work is looked at.
    """

    port: int
    token: str = field(repr=False)
    requests: Sequence[Request] = field(repr=False)
    wanted: str
    warm_up: int = 20
    connections: int = 1
    server: int = 0


@dataclass(frozen=True, slots=True)
class Times:
    """What came of it.

    Attributes:
        rate: answered requests in a second.
        cpu: what the server's process worked for one request, in microseconds; unlike the others it
            does not grow while the machine does other people's work.
        latencies: of each request, in milliseconds, the shortest first.
    """

    rate: float
    cpu: float
    latencies: Sequence[float] = field(repr=False)

    def at(self, share: float) -> float:
        """The milliseconds that this share of the requests took at most."""
        last = len(self.latencies) - 1
        return self.latencies[min(last, int(len(self.latencies) * share))]


def sent(sending: Sending) -> Times:
    """Send in a process of its own.

    Raises:
        RuntimeError: an answer was wrong, or the server went away.
    """
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.rest_client"],
        input=json.dumps(asdict(sending)),
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise RuntimeError(f"{sending}: {done.stderr.strip()[-2000:]}")
    rate, cpu, latencies = json.loads(done.stdout)
    return Times(rate, cpu, latencies)


async def run(sending: Sending) -> tuple[float, float, list[float]]:
    """Warm up, then send the rest.

    Returns:
        Requests per second, microseconds of the server's process a request, and the latencies.
    """
    loop = asyncio.get_running_loop()
    senders = []
    for _ in range(sending.connections):
        _, connection = await loop.create_connection(Connection, "127.0.0.1", sending.port)
        senders.append(_Sender(connection, sending))
    first, rest = sending.requests[: sending.warm_up], sending.requests[sending.warm_up :]
    await _shared(senders, first)
    worked, begun = cpu_seconds(sending.server), perf_counter()
    latencies = await _shared(senders, rest)
    took, worked = perf_counter() - begun, cpu_seconds(sending.server) - worked
    return len(rest) / took, worked / len(rest) * 1e6, sorted(latencies)


async def _shared(senders: Sequence[_Sender], requests: Sequence[Request]) -> list[float]:
    """Let whoever is free send the next one."""
    waiting = iter(requests)
    found = await asyncio.gather(*(sender.send_all(waiting) for sender in senders))
    return [one for each in found for one in each]


class _Sender:
    def __init__(self, connection: Connection, sending: Sending) -> None:
        self._connection = connection
        self._wanted = sending.wanted
        lines = [
            f"host: 127.0.0.1:{sending.port}",
            "content-type: application/json",
            f"authorization: Bearer {sending.token}",
            "",
        ]
        self._rest = "\r\n".join(lines).encode()

    async def send_all(self, waiting: Any) -> list[float]:
        return [await self._send(request) for request in waiting]

    async def _send(self, request: Request) -> float:
        method, path, body = request
        head = f"{method} {path} HTTP/1.1\r\n".encode() + self._rest
        content = b"" if body is None else json.dumps(body).encode()
        begun = perf_counter()
        top, answer = await self._connection.exchange(framed(head, content))
        took = (perf_counter() - begun) * 1000
        if not top.startswith(b"HTTP/1.1 2") or not json.loads(answer).get(self._wanted):
            raise ValueError(f"wrong answer to {request!r}: {top!r} {answer[:500]!r}")
        return took


def main() -> None:
    """Send what standard input describes."""
    import uvloop

    print(json.dumps(uvloop.run(run(Sending(**json.load(sys.stdin))))))


if __name__ == "__main__":
    main()
