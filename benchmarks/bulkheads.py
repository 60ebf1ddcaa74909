"""What others' calls take while one plugin shouts, raises, recurses and hangs, and one computes."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.paced import Client, p99, request
from benchmarks.peers import plugin_module
from benchmarks.processes import ABOVE_LOAD, CLIENT_CORE, SERVER_CORE, free_port, pin, running
from benchmarks.table import Bar, Row

SECTION = "bulkheads"
LONG, RAISING, RECURSING, HANGING, COMPUTE_SECONDS = 8, 200, 20, 1000, 3.0
BASELINE_SECONDS = 3.0
CALL_SECONDS = 10
LAST_MINUTE_SECONDS = 65.0


def measure() -> list[Row]:
    """The 99th percentile of others' calls without and with all of it, and the loop's worst lag."""
    port = free_port()
    with running(["-m", "benchmarks.bulkheads", "serve", str(port)], port, core=SERVER_CORE):
        pin(CLIENT_CORE)
        _latencies(port, LAST_MINUTE_SECONDS)  # what starting took of the loop is forgotten then
        quiet = _latencies(port, BASELINE_SECONDS)
        with running_load(port) as load:
            busy = _latencies(port, CALL_SECONDS * 2, lambda: load.poll() is not None)
            told = json.loads(load.communicate()[0])
        lag = _worst_lag(port)
    more = (p99(busy) - p99(quiet)) * 1e3
    note = ", ".join(f"{count} x {what}" for what, count in sorted(told.items()))
    return [
        Row(SECTION, "a small call, p99, nothing else", p99(quiet) * 1e3, "ms"),
        Row(SECTION, "the same beside all of it", p99(busy) * 1e3, "ms", note=note),
        Row(SECTION, "what it takes longer, p99", more, "ms", Bar("at most", 5), headline=True),
        Row(SECTION, "longest stall of the loop", lag * 1e3, "ms", Bar("at most", 50)),
    ]


def running_load(port: int) -> Any:
    """The process that makes all the other calls."""
    import subprocess

    command = [sys.executable, "-m", "benchmarks.bulkheads", "load", str(port)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def _latencies(port: int, seconds: float, over: Any = lambda: False) -> list[float]:
    client, add = Client(port), request("tools/call", "add", {"a": 1, "b": 2})
    found: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and not over():
        found.append(client.ask(add, b'"sum":3'))
    return found


def _worst_lag(port: int) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    found = re.search(r"^porch_loop_lag_seconds(?:\{\})? (\S+)", text, re.M)
    if found is None:
        raise RuntimeError("no porch_loop_lag_seconds")
    return float(found[1])


async def _load(port: int) -> dict[str, int]:
    """Make all calls at once; how many ended how."""
    counts = {"shout": LONG, "stumble": RAISING, "fall": RECURSING, "hang": HANGING}
    calls: list[tuple[str, dict[str, Any]]] = []
    for tool, count in counts.items():
        calls += [(tool, {})] * count
    asked = [_asked(port, name, given) for name, given in calls]
    asked.append(_asked(port, "compute", {"seconds": COMPUTE_SECONDS}))
    return dict(Counter(await asyncio.gather(*asked)))


async def _asked(port: int, tool: str, given: dict[str, Any]) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request("tools/call", tool, given).alone())
    size, first = 0, b""
    try:
        while data := await reader.read(1 << 20):
            size += len(data)
            first = (first + data)[:4000] if len(first) < 4000 else first
    except ConnectionResetError:
        return f"{tool} reset"
    finally:
        writer.close()
    if size > 1 << 20:
        return f"{tool} of {size / 2**20:.0f} MiB"
    code = re.search(rb'code\W+"?([a-z_]+|-\d+)', first.partition(b"\r\n\r\n")[2])
    return f"{tool} {code[1].decode() if code else 'answered'}"


def serve(port: int) -> None:
    """Serve the three plugins."""
    import uvloop

    from benchmarks import computing_plugin, unruly_plugin
    from gateway.app import PortalApp
    from gateway.config.portal import load_portal
    from gateway.observability import logs
    from gateway.server.data_directory import held
    from gateway.server.server import serve as served

    logs.configure("critical")
    with tempfile.TemporaryDirectory() as place:
        config, data = Path(place, "config"), Path(place, "data")
        config.mkdir()
        (config / "tiers.yaml").write_text("default: open\n")
        overrides = {
            "listen": {"port": port},
            "services": {"embedding": "none"},
            "limits": {**ABOVE_LOAD, "call": f"{CALL_SECONDS}s"},
            "plugins": {
                "rough": {"bulkhead": {"bytes": "100MiB"}},
                "computing": {"isolation": "process"},
            },
        }
        portal = load_portal(config, overrides)
        app = PortalApp(portal, data, modules=[unruly_plugin, computing_plugin, plugin_module(1)])
        with held(data):
            uvloop.run(served(app, portal.config, data, lambda _: None))


def main() -> None:
    """Serve, or make the calls; the command line says which."""
    port = int(sys.argv[2])
    if sys.argv[1] == "serve":
        return serve(port)
    pin(CLIENT_CORE)
    print(json.dumps(asyncio.run(_load(port))))
    return None


if __name__ == "__main__":
    main()
