"""``tools/list`` with 200 tools, beside bare Starlette that sends the very same bytes."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import Mapping
from statistics import median

from benchmarks.load import Connection, Figures, Load, measured, middle, session
from benchmarks.peers import Served, serving
from benchmarks.table import Bar, Row
from benchmarks.wire import ERAS, TOOLS, Era, bodies, framed, head

SECTION = "lists"
ROUNDS = 5
MOST = 3.0


def measure() -> list[Row]:
    """Porch's time for the list over bare Starlette's, in both eras."""
    with serving(("starlette", "porch", "mcp"), tools=TOOLS) as served:
        return [_era(era, served) for era in ERAS]


def _era(era: Era, served: Mapping[str, Served]) -> Row:
    size = _hold(served["starlette"].port, asyncio.run(_listed(era, served["porch"].port)))
    found: dict[str, list[Figures]] = {name: [] for name in served}
    for _ in range(ROUNDS):
        for name, rounds in found.items():
            # The bare endpoint knows nothing of eras or sessions.
            at: Era = "modern" if name == "starlette" else era
            rounds.append(measured(Load(served[name].port, at, "list"), served[name].pid))
    pairs = zip(found["porch"], found["starlette"], strict=True)
    ratios = [ours.p50 / bare.p50 for ours, bare in pairs]
    times = ", ".join(f"{name} {middle(rounds).p50:.2f} ms" for name, rounds in found.items())
    return Row(
        SECTION,
        f"Porch's time for {TOOLS} tools over bare Starlette's, {era}",
        median(ratios),
        bar=Bar("at most", MOST),
        note=f"{size / 1024:.0f} KiB; {times}",
        headline=True,
    )


async def _listed(era: Era, port: int) -> bytes:
    """The list as Porch sends it."""
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(Connection, "127.0.0.1", port)
    began = await session(connection, port) if era == "legacy" else ""
    request = framed(head(era, "list", port, began), bodies(era, "list") % {b"n": 0})
    _, body = await connection.exchange(request)
    connection.close()
    return body


def _hold(port: int, body: bytes) -> int:
    """Have bare Starlette send these bytes; gives how many they are."""
    client = http.client.HTTPConnection("127.0.0.1", port)
    client.request("PUT", "/list", body)
    client.getresponse().read()
    client.close()
    return len(body)
