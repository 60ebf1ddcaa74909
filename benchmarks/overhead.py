"""What Porch costs beside bare servers: one small tool, called over HTTP on loopback.

Every server runs in one process on one core, the load generator on the other. Rounds are
interleaved, and a ratio is the median of the rounds' own ratios, so that a neighbour on the
machine disturbs both of its sides alike; the processor time of a call, which a neighbour disturbs
least, stands beside it. The SDK's servers answer as Porch does: a quick call as
``application/json``, with a session on the legacy leg; their default, server-sent events, is shown
for information.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from benchmarks.load import Figures, Load, measured, middle
from benchmarks.peers import Served, serving
from benchmarks.table import Bar, Row
from benchmarks.wire import ERAS, Era

SECTION = "overhead"
ROUNDS = 5
SECONDS = 1.0
"""Seconds of a round: long enough that opening the connections does not count for much."""
CONNECTIONS = (1, 32)
NAMES: Mapping[str, str] = {
    "starlette": "bare Starlette, JSON endpoint",
    "work": "the work itself, without MCP",
    "mcp": "bare mcp server",
    "mcp-sse": "bare mcp server, SSE",
    "fastmcp": "FastMCP",
    "fastmcp-sse": "FastMCP, SSE",
    "porch": "Porch, everything on",
}
WITHOUT_ERAS = frozenset({"starlette", "work"})
"""Peers that know nothing of eras, and are called in one way only."""
BARS: Mapping[tuple[str, int], float] = {
    ("mcp", 1): 1.5,
    ("mcp", 32): 2.5,
    ("fastmcp", 1): 2.0,
    ("fastmcp", 32): 2.0,
}
"""What Porch's calls per second are at least, over a peer's, by how many connections."""
WORK_BAR = 1.6
"""What a call costs Porch at most, over the work itself; processor time."""

Measured = dict[tuple[str, Era, int], list[Figures]]


def measure() -> list[Row]:
    """Calls per second, p50 and p99 of every server, and Porch's ratios to them."""
    with serving(NAMES, tools=1) as served:
        found = _rounds(served)
    rows = [_figures(*key, middle(rounds)) for key, rounds in found.items()]
    rows += [_ratio(found, peer, era, at) for peer, at in BARS for era in ERAS]
    return rows + [_cost(found, era, at) for era in ERAS for at in CONNECTIONS]


def _rounds(served: Mapping[str, Served]) -> Measured:
    found: Measured = {
        (name, era, connections): []
        for era in ERAS
        for connections in CONNECTIONS
        for name in NAMES
        if name not in WITHOUT_ERAS or era == "modern"
    }
    for _ in range(ROUNDS):
        for (name, era, connections), rounds in found.items():
            rounds.append(
                measured(
                    Load(served[name].port, era, "call", connections, SECONDS), served[name].pid
                )
            )
    return found


def _figures(name: str, era: Era, connections: int, figures: Figures) -> Row:
    where = f"at {connections}" if name in WITHOUT_ERAS else f"{era} at {connections}"
    what = f"{NAMES[name]}, {where}"
    note = f"p50 {figures.p50:.2f} ms, p99 {figures.p99:.2f} ms, CPU {figures.cpu:.0f} us a call"
    headline = connections == max(CONNECTIONS) and "sse" not in name
    return Row(SECTION, what, figures.rate, "calls/s", note=note, headline=headline)


def _ratio(found: Measured, peer: str, era: Era, at: int) -> Row:
    pairs = zip(found["porch", era, at], found[peer, era, at], strict=True)
    ratios = [ours.rate / theirs.rate for ours, theirs in pairs]
    work = middle(found["porch", era, at]).cpu / middle(found[peer, era, at]).cpu
    return Row(
        SECTION,
        f"Porch's calls/s over {NAMES[peer]}'s, {era} at {at}",
        median(ratios),
        bar=Bar("at least", BARS[peer, at]),
        note=f"{ROUNDS} rounds from {min(ratios):.2f} to {max(ratios):.2f}; CPU {work:.2f} of it",
        headline=True,
    )


def _cost(found: Measured, era: Era, at: int) -> Row:
    pairs = zip(found["porch", era, at], found["work", "modern", at], strict=True)
    ratios = [ours.cpu / theirs.cpu for ours, theirs in pairs]
    return Row(
        SECTION,
        f"processor time of Porch's call over {NAMES['work']}, {era} at {at}",
        median(ratios),
        bar=Bar("at most", WORK_BAR),
        note=f"{ROUNDS} rounds from {min(ratios):.2f} to {max(ratios):.2f}",
        headline=True,
    )
