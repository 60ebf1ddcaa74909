"""A client that calls tools of several servers in turns, and times the answers.

``python -m benchmarks.tool_client`` reads what to call on standard input, as :func:`run` takes it,
and prints what that returns. Like :mod:`benchmarks.load` it has a process and a core of its own.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from time import perf_counter
from typing import Any

from benchmarks.load import Connection, Figures
from benchmarks.processes import CLIENT_CORE, cpu_seconds, pin
from benchmarks.wire import VERSIONS, framed

NUMBER = "NUMBER"
"""Stands for the number of the call, within a text of the arguments."""
_WARM_UP = 40
_META = {
    "io.modelcontextprotocol/protocolVersion": VERSIONS["modern"],
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What to call.

    Attributes:
        port: where the server listens on 127.0.0.1.
        tool: the tool's name.
        arguments: its arguments, which calls take in turns.
        wanted: a field that every right answer has, and not empty.
        server: the server's process, whose work is looked at.
        connections: how many send at the same time.
        seconds: how long a round is.
        token: a bearer token to send along, or nothing for an anonymous caller.
        first: the number of the first call.
    """

    port: int
    tool: str
    arguments: Sequence[Mapping[str, Any]]
    wanted: str
    server: int = 0
    connections: int = 1
    seconds: float = 0.4
    token: str = field(default="", repr=False)
    first: int = 0


def taken(asked: Mapping[str, Asked], rounds: int) -> dict[str, list[Figures]]:
    """Call in a process of its own; every round calls each once.

    Args:
        asked: what to call, by names.
        rounds: how many.

    Raises:
        RuntimeError: an answer was wrong, or a server went away.
    """
    # On standard input: what stands on a command line, everybody on the machine can read.
    given = {"asked": {name: asdict(each) for name, each in asked.items()}, "rounds": rounds}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.tool_client"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=120,
    )
    if done.returncode:
        raise RuntimeError(f"{list(asked)}: {done.stderr.strip()[-2000:]}")
    return {
        name: [Figures(*figures) for figures in found]
        for name, found in json.loads(done.stdout).items()
    }


async def answer(asked: Asked) -> bytes:
    """The body of one answer, once it has been found right."""
    caller = await _caller(asked, 0)
    try:
        return (await caller.call())[1]
    finally:
        caller.connection.close()


async def run(asked: Mapping[str, Asked], rounds: int) -> dict[str, list[tuple[float, ...]]]:
    """Warm up, then call in rounds.

    Returns:
        Of each round: calls per second, p50 and p99 in milliseconds, and microseconds of the
        server's process a call.
    """
    crowds = {name: await _crowd(each) for name, each in asked.items()}
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in asked}
    for _ in range(rounds):
        for name, crowd in crowds.items():
            found[name].append(await _round(asked[name], crowd))
    for caller in chain(*crowds.values()):
        caller.connection.close()
    return found


async def _crowd(asked: Asked) -> list[Caller]:
    """Connections that have warmed up."""
    callers = [await _caller(asked, place) for place in range(asked.connections)]
    each = max(_WARM_UP // asked.connections, len(asked.arguments))
    await asyncio.gather(*(caller.go_on(most=each) for caller in callers))
    return callers


async def _round(asked: Asked, crowd: Sequence[Caller]) -> tuple[float, ...]:
    worked = cpu_seconds(asked.server)
    begun = perf_counter()
    until = begun + asked.seconds
    found = await asyncio.gather(*(caller.go_on(until=until) for caller in crowd))
    took = perf_counter() - begun
    worked = cpu_seconds(asked.server) - worked
    latencies = sorted(one for each in found for one in each)
    p50, p99 = (latencies[int(len(latencies) * share)] * 1000 for share in (0.5, 0.99))
    return len(latencies) / took, p50, p99, worked / len(latencies) * 1e6


async def _caller(asked: Asked, place: int) -> Caller:
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(Connection, "127.0.0.1", asked.port)
    return Caller(connection, asked, asked.first + place * 100_000)


class Caller:
    """One connection, on which calls follow each other."""

    def __init__(self, connection: Connection, asked: Asked, number: int) -> None:
        self.connection = connection
        self._asked = asked
        self._number = number
        self._head = _head(asked)
        self._bodies = [_body(asked.tool, each) for each in asked.arguments]
        self._right: set[bytes] = set()

    async def go_on(self, until: float = float("inf"), most: int = sys.maxsize) -> list[float]:
        """Call until a time of ``perf_counter``, or so often: the seconds that each took."""
        taken: list[float] = []
        while len(taken) < most and perf_counter() < until:
            seconds, _ = await self.call()
            taken.append(seconds)
        return taken

    async def call(self) -> tuple[float, bytes]:
        """One call: how many seconds it took, and its answer's body.

        Raises:
            ValueError: the answer is wrong.
        """
        self._number += 1
        body = self._bodies[self._number % len(self._bodies)]
        request = framed(self._head, body.replace(NUMBER.encode(), b"%d" % self._number))
        begun = perf_counter()
        top, answer = await self.connection.exchange(request)
        seconds = perf_counter() - begun
        self._check(top, answer)
        return seconds, answer

    def _check(self, top: bytes, answer: bytes) -> None:
        # What is the same as an answer before is not parsed again.
        if answer in self._right and top.startswith(b"HTTP/1.1 200"):
            return
        result = json.loads(answer).get("result", {})
        if result.get("isError") or not (result.get("structuredContent") or {}).get(
            self._asked.wanted
        ):
            raise ValueError(f"wrong answer: {top[:100]!r} {answer[:500]!r}")
        self._right.add(answer)


def _head(asked: Asked) -> bytes:
    headers = {
        "host": f"127.0.0.1:{asked.port}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": VERSIONS["modern"],
        "mcp-method": "tools/call",
        "mcp-name": asked.tool,
    }
    headers |= {"authorization": f"Bearer {asked.token}"} if asked.token else {}
    lines = [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(["POST /mcp HTTP/1.1", *lines, ""]).encode()


def _body(tool: str, arguments: Mapping[str, Any]) -> bytes:
    params = {"name": tool, "arguments": arguments, "_meta": _META}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(call, separators=(",", ":")).encode()


def main() -> None:
    """Call what standard input describes."""
    import uvloop

    pin(CLIENT_CORE)
    given = json.load(sys.stdin)
    asked = {name: Asked(**each) for name, each in given["asked"].items()}
    print(json.dumps(uvloop.run(run(asked, given["rounds"]))))


if __name__ == "__main__":
    main()
