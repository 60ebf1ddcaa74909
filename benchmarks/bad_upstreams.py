"""What other calls and lists take while one server behind the portal hangs and one flaps.

Calls that nobody answers and calls to a server that is killed and started again go on beside a
member's: to a third server, to a plugin, and ``tools/list``. Rounds without and with them are
interleaved, and a figure is the median of the rounds' own.

``python -m benchmarks.bad_upstreams ROLE PORT ...`` is one of the processes.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.paced import Client, Request, p99, request
from benchmarks.peers import PEERS, plugin_module, serve_peer, serve_portal
from benchmarks.processes import CLIENT_CORE, SERVER_CORE, free_port, pin, running
from benchmarks.table import Bar, Row

SECTION = "bad_upstreams"
ROUNDS, SECONDS = 5, 4.0
"""Rounds, and the seconds of each half of one: without the bad servers' calls, and beside them."""
CALLERS: Mapping[str, int] = {"hanging": 100, "flapping": 16}
"""How many call each of the bad servers; a hundred are more than may wait there."""
PAUSE_SECONDS = 0.1
"""Between the end of a call to a bad server and the next one."""
UP_SECONDS, DOWN_SECONDS = 0.5, 0.3
"""For how long the server that comes and goes is there, and away."""
_SUM = {"a": 1, "b": 2}
ASKED: Mapping[str, tuple[Request, bytes]] = {
    "a call to a third server": (request("tools/call", "third__add", _SUM), b'"sum":3'),
    "a call to a plugin": (request("tools/call", "add", _SUM), b'"sum":3'),
    "tools/list": (request("tools/list"), b"third__add"),
}
BARS: Mapping[str, float] = {
    "a call to a third server": 5,
    "a call to a plugin": 5,
    "tools/list": 1,
}
"""By how much each may take longer at the 99th percentile, in milliseconds."""

Round = dict[str, float]
"""The 99th percentile of each kind of request, in milliseconds."""


def measure() -> list[Row]:
    """The 99th percentiles without and beside calls to bad servers, and what lies between."""
    with _serving() as (port, flapping):
        pin(CLIENT_CORE)
        client = Client(port)
        _await_tools(client)
        _measured(client)  # warms up
        rounds = [(_measured(client), _beside(client, port, flapping)) for _ in range(ROUNDS)]
    return [row for what in ASKED for row in _rows(what, rounds)]


def _rows(what: str, rounds: list[tuple[Round, Round]]) -> list[Row]:
    quiet, busy = (median(each[half][what] for each in rounds) for half in (0, 1))
    more = [beside[what] - without[what] for without, beside in rounds]
    note = f"{ROUNDS} rounds from {min(more):.2f} to {max(more):.2f} ms"
    longer = f"what {what} takes longer beside a hanging and a flapping server, p99"
    return [
        Row(SECTION, f"{what}, p99, all servers well", quiet, "ms"),
        Row(SECTION, f"{what}, p99, one hangs and one flaps", busy, "ms"),
        Row(SECTION, longer, median(more), "ms", Bar("under", BARS[what]), note, headline=True),
    ]


def _await_tools(client: Client) -> None:
    wanted = [f"{name}__add".encode() for name in ("third", *CALLERS)]
    until = time.monotonic() + 60
    while not all(each in client.answer(request("tools/list")) for each in wanted):
        if time.monotonic() > until:
            raise RuntimeError("the servers are not known yet")
        time.sleep(0.05)


def _measured(client: Client) -> Round:
    found: dict[str, list[float]] = {what: [] for what in ASKED}
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for what, (asked, expected) in ASKED.items():
            found[what].append(client.ask(asked, expected))
    return {what: p99(each) * 1e3 for what, each in found.items()}


def _beside(client: Client, port: int, flapping: int) -> Round:
    command = [sys.executable, "-m", "benchmarks.bad_upstreams", "call", str(port), str(flapping)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as calls:
        assert calls.stdout is not None
        calls.stdout.readline()
        found = _measured(client)
        if calls.poll() is not None:
            raise RuntimeError("nobody called the bad servers any more")
        calls.terminate()
    time.sleep(2 * (UP_SECONDS + DOWN_SECONDS))  # until all servers are well again
    return found


@contextmanager
def _serving() -> Generator[tuple[int, int]]:
    """Serve all while the block lasts; gives the portal's port, and who makes a server flap."""
    ports = {name: free_port() for name in ("third", "hanging", "flapping", "portal")}
    here = ["-m", "benchmarks.bad_upstreams"]
    third = ["-m", "benchmarks.peers", "mcp", str(ports["third"]), "1"]
    hanging = [*here, "hang", str(ports["hanging"])]
    flapping = [*here, "flap", str(ports["flapping"])]
    servers = [f"{name}={ports[name]}" for name in ("third", "hanging", "flapping")]
    portal = [*here, "portal", str(ports["portal"]), *servers]
    with (
        running(third, ports["third"], core=CLIENT_CORE),
        running(hanging, ports["hanging"], core=CLIENT_CORE),
        running(flapping, ports["flapping"], core=CLIENT_CORE) as flapper,
        running(portal, ports["portal"], core=SERVER_CORE),
    ):
        yield ports["portal"], flapper.pid


def hang(port: int) -> None:
    """Serve the small tool, whose calls nobody answers."""
    app = PEERS["mcp"](1)

    async def hanging(scope: Any, receive: Any, send: Any) -> None:
        if (b"mcp-method", b"tools/call") in scope.get("headers", ()):
            await asyncio.Event().wait()
        await app(scope, receive, send)

    serve_peer(hanging, port)


def flap(port: int) -> None:
    """Serve the small tool in a process that is killed at each SIGUSR1, and started again."""
    signals = {signal.SIGUSR1, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    while True:
        if not (server := os.fork()):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
            serve_peer(PEERS["mcp"](1), port)
        told = signal.sigwait(signals)
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
        if told == signal.SIGTERM:
            return
        time.sleep(DOWN_SECONDS)


async def call(port: int, flapping: int) -> None:
    """Call the bad servers without end, and make one of them come and go."""
    tools = [f"{name}__add" for name, count in CALLERS.items() for _ in range(count)]
    callers = [_call_on(port, tool) for tool in tools]
    print("calling", flush=True)
    await asyncio.gather(_come_and_go(flapping), *callers)


async def _come_and_go(flapping: int) -> None:
    while True:
        await asyncio.sleep(UP_SECONDS + DOWN_SECONDS)
        os.kill(flapping, signal.SIGUSR1)


async def _call_on(port: int, tool: str) -> None:
    asked = request("tools/call", tool, _SUM).alone()
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked)
        await reader.read()
        writer.close()
        await asyncio.sleep(PAUSE_SECONDS)


def portal(port: int, *servers: str) -> None:
    """Serve the portal before the servers, each as ``NAME=PORT``, with a plugin of its own."""
    import yaml

    from plugins.upstreams import plugin

    with tempfile.TemporaryDirectory() as place:
        config = Path(place, "config")
        config.mkdir()
        (config / "tiers.yaml").write_text("default: open\n")
        named = [each.split("=") for each in servers]
        listed = [{"name": name, "url": f"http://127.0.0.1:{at}/mcp"} for name, at in named]
        written = {"plugins": {"upstreams": {"servers": listed}}}
        (config / "portal.yaml").write_text(yaml.safe_dump(written))
        serve_portal(Path(place), port, plugin, plugin_module(1))


def main() -> None:
    """Be the process that the command line names."""
    role, port, *more = sys.argv[1:]
    if role != "portal":
        os.nice(19)  # what the bad servers and their callers do must not keep the member waiting
    if role == "call":
        pin(CLIENT_CORE)
        asyncio.run(call(int(port), int(more[0])))
    elif role == "portal":
        portal(int(port), *more)
    else:
        {"hang": hang, "flap": flap}[role](int(port))


if __name__ == "__main__":
    main()
