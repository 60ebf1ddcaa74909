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

from benchmarks.load import Figures, middle
from benchmarks.peers import serving
from benchmarks.rounds import (
    CONNECTIONS,
    Calls,
    Measured,
    figures_row,
    in_rounds,
    rates,
    ratio_row,
)
from benchmarks.table import Bar, Row
from benchmarks.wire import ERAS, Era

SECTION = "overhead"
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


def measure() -> list[Row]:
    """Calls per second, p50 and p99 of every server, and Porch's ratios to them."""
    with serving(NAMES, tools=1) as served:
        found = in_rounds(served, _calls())
    rows = [_figures(*key, middle(rounds)) for key, rounds in found.items()]
    rows += [_ratio(found, peer, era, at) for peer, at in BARS for era in ERAS]
    return rows + [_cost(found, era, at) for era in ERAS for at in CONNECTIONS]


def _calls() -> list[Calls]:
    return [
        (name, era, connections)
        for era in ERAS
        for connections in CONNECTIONS
        for name in NAMES
        if name not in WITHOUT_ERAS or era == "modern"
    ]


def _figures(name: str, era: Era, connections: int, figures: Figures) -> Row:
    where = f"at {connections}" if name in WITHOUT_ERAS else f"{era} at {connections}"
    headline = connections == max(CONNECTIONS) and "sse" not in name
    return figures_row(SECTION, f"{NAMES[name]}, {where}", figures, headline=headline)


def _ratio(found: Measured, peer: str, era: Era, at: int) -> Row:
    ours, theirs = ("porch", era, at), (peer, era, at)
    work = middle(found[ours]).cpu / middle(found[theirs]).cpu
    what = f"Porch's calls/s over {NAMES[peer]}'s, {era} at {at}"
    bar = Bar("at least", BARS[peer, at])
    return ratio_row(SECTION, what, rates(found, ours, theirs), bar, f"; CPU {work:.2f} of it")


def _cost(found: Measured, era: Era, at: int) -> Row:
    pairs = zip(found["porch", era, at], found["work", "modern", at], strict=True)
    ratios = [ours.cpu / theirs.cpu for ours, theirs in pairs]
    what = f"processor time of Porch's call over {NAMES['work']}, {era} at {at}"
    return ratio_row(SECTION, what, ratios, Bar("at most", WORK_BAR))
