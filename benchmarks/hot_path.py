"""Where each microsecond of one small tool call goes, by room of the gateway and by library.

The portal is called in this process, past any socket, by a deterministic profiler. It makes each
function seem slower, small ones most: so its shares are taken, and the time without it. Time is the
processor's, so that a neighbour takes none of it. What the HTTP server takes before and after the
portal is measured by itself, with an application that does next to nothing.
"""

from __future__ import annotations

import asyncio
import cProfile
import json
import pstats
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from time import process_time, thread_time
from typing import Any

from benchmarks.load import Load, measured
from benchmarks.peers import plugin_module, serving
from benchmarks.processes import ABOVE_LOAD, ROOT
from benchmarks.rounds import CONNECTIONS
from benchmarks.table import Row
from benchmarks.wire import ERAS, Checker, Era, bodies, framed, handshake, head

SECTION = "hot_path"
CALLS = 3_000
ROUNDS = 5
SHOWN = 14
"""Rows of an era; what is less is one row."""

PORT = 8_000
SCOPE = {
    "type": "http",
    "asgi": {"version": "3.0"},
    "http_version": "1.1",
    "method": "POST",
    "scheme": "http",
    "path": "/mcp",
    "raw_path": b"/mcp",
    "query_string": b"",
    "root_path": "",
    "client": ("127.0.0.1", 50_000),
    "server": ("127.0.0.1", PORT),
}
"""What uvicorn says of each request, but for its headers."""

Call = Callable[[], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]


def measure() -> list[Row]:
    """The microseconds of a call in each era, and whose they are."""
    rows = _server_rows()
    for era in ERAS:
        # A process each: a portal sets up logs and traces for the whole of its own.
        command = [sys.executable, "-m", "benchmarks.hot_path", era]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        rows += _rows(era, *json.loads(done.stdout))
    return rows


def _server_rows() -> list[Row]:
    """The microseconds that the HTTP server takes of each call."""
    rows = []
    with serving(["http"], tools=1) as served:
        port, process = served["http"].port, served["http"].pid
        for connections in CONNECTIONS:
            load = Load(port, "modern", "call", connections)
            least = min(measured(load, process).cpu for _ in range(ROUNDS))
            what = f"the HTTP server by itself, {connections} connections"
            rows.append(Row(SECTION, what, least, "us", note=f"least of {ROUNDS} rounds"))
    return rows


def _rows(era: Era, microseconds: float, shares: dict[str, float]) -> list[Row]:
    whole = f"one call in the {era} era, without the HTTP server"
    rows = [Row(SECTION, whole, microseconds, "us", note=f"best of {ROUNDS} x {CALLS} calls")]
    ordered = sorted(shares.items(), key=lambda share: -share[1])
    others = sum(share for _, share in ordered[SHOWN:])
    for name, share in [*ordered[:SHOWN], ("all others", others)]:
        rows.append(Row(SECTION, f"{era}: {name}", share * microseconds, "us", note=f"{share:.0%}"))
    return rows


async def _profiled(era: Era) -> tuple[float, dict[str, float]]:
    """The microseconds of one call, and the share of each part in them."""
    async with AsyncExitStack() as stack:
        call = await _caller(era, stack)
        for _ in range(CALLS // 5):
            await call()
        best = min([await _timed(call) for _ in range(ROUNDS)])
        profile = cProfile.Profile(thread_time)
        profile.enable()
        for _ in range(CALLS):
            await call()
        profile.disable()
    return best * 1e6, _shares(profile)


async def _timed(call: Call) -> float:
    before = process_time()
    for _ in range(CALLS):
        await call()
    return (process_time() - before) / CALLS


async def _caller(era: Era, stack: AsyncExitStack) -> Call:
    """What calls the tool of an open portal once."""
    from gateway.app import PortalApp
    from gateway.config.portal import load_portal
    from gateway.observability import logs, telemetry

    logs.configure("warning")
    telemetry.configure("porch", enabled=True)
    place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    config = place / "config"
    config.mkdir()
    (config / "tiers.yaml").write_text("default: open\n")
    portal = load_portal(config, {"limits": ABOVE_LOAD})
    app = PortalApp(portal, place / "data", modules=[plugin_module(1)])
    await stack.enter_async_context(app.opened())
    return await _session(app, era)


async def _session(app: Any, era: Era) -> Call:
    session = ""
    if era == "legacy":
        sent = await _asked(app, *_parsed(handshake(PORT)))
        session = dict(sent[0]["headers"])[b"mcp-session-id"].decode()
    body = bodies(era, "call") % {b"n": 1}
    headers, body = _parsed(framed(head(era, "call", PORT, session), body))
    sent = await _asked(app, headers, body)
    Checker("call")(sent[1]["body"], 1)

    async def call() -> None:
        await _asked(app, headers, body)

    return call


def _parsed(request: bytes) -> tuple[Headers, bytes]:
    """The headers, as ASGI has them, and the body of an HTTP request."""
    lines, body = request.split(b"\r\n\r\n", 1)
    pairs = (line.split(b": ", 1) for line in lines.split(b"\r\n")[1:])
    return [(name.lower(), value) for name, value in pairs], body


async def _asked(app: Any, headers: Headers, body: bytes) -> list[dict[str, Any]]:
    """What the portal sends in answer to one request."""
    sent: list[dict[str, Any]] = []
    given = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        return given.pop() if given else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    await app({**SCOPE, "headers": headers, "state": {}}, receive, send)
    return sent


def _shares(profile: cProfile.Profile) -> dict[str, float]:
    """The share of the profiled time that each part has itself."""
    own: Counter[str] = Counter()
    for (path, _, name), (_, _, seconds, _, callers) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        if path != "~":
            own[_part(path)] += seconds
            continue
        for (caller, _, _), (_, _, share, _) in callers.items():  # what is built in is its caller's
            own[_part(caller) if caller != "~" else name] += share
    whole = sum(own.values())
    return {part: seconds / whole for part, seconds in own.items()}


def _part(path: str) -> str:
    """Whose a file is: a room of the gateway, another package of ours, or a library."""
    place = Path(path)
    if "site-packages" in place.parts:
        return place.parts[place.parts.index("site-packages") + 1]
    if not place.is_relative_to(ROOT):
        return "the standard library"
    parts = place.relative_to(ROOT).with_suffix("").parts
    if parts[0] in ("auth", "benchmarks"):
        return parts[0]
    return "/".join(parts[: 3 if parts[1] == "surfaces" else 2])


def main() -> None:
    """Print what :func:`_profiled` finds for the era that the command line names."""
    import uvloop

    era: Era = "legacy" if sys.argv[1] == "legacy" else "modern"
    print(json.dumps(uvloop.run(_profiled(era))))


if __name__ == "__main__":
    main()
