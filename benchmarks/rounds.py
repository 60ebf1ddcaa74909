"""Servers that are called in turn, round after round, so that a neighbour disturbs all alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median

from benchmarks.load import Figures, Load, measured
from benchmarks.peers import Served
from benchmarks.table import Bar, Row
from benchmarks.wire import Era

ROUNDS = 5
SECONDS = 1.0
"""Seconds of a round: long enough that opening the connections does not count for much."""
CONNECTIONS = (1, 32)

Calls = tuple[str, Era, int]
"""A server's name, the era that it is called in, and by how many connections."""
Measured = dict[Calls, list[Figures]]
"""The rounds of each."""


def in_rounds(served: Mapping[str, Served], calls: Iterable[Calls]) -> Measured:
    """Call each server in each round.

    Args:
        served: the servers, by name.
        calls: which are called, and how.
    """
    found: Measured = {each: [] for each in calls}
    for _ in range(ROUNDS):
        for (name, era, connections), rounds in found.items():
            load = Load(served[name].port, era, "call", connections, SECONDS)
            rounds.append(measured(load, served[name].pid))
    return found


def figures_row(section: str, what: str, figures: Figures, *, headline: bool) -> Row:
    """The row of one server's calls per second.

    Args:
        section: the benchmark.
        what: the server, and how it was called.
        figures: the medians of its rounds.
        headline: whether it is one of the rows that are read first.
    """
    note = f"p50 {figures.p50:.2f} ms, p99 {figures.p99:.2f} ms, CPU {figures.cpu:.0f} us a call"
    return Row(section, what, figures.rate, "calls/s", note=note, headline=headline)


def ratio_row(section: str, what: str, ratios: list[float], bar: Bar, more: str = "") -> Row:
    """The row of a ratio, the median of the rounds' own.

    Args:
        section: the benchmark.
        what: which ratio.
        ratios: those of the rounds.
        bar: what it has to reach.
        more: what else there is to say.
    """
    note = f"{ROUNDS} rounds from {min(ratios):.2f} to {max(ratios):.2f}{more}"
    return Row(section, what, median(ratios), bar=bar, note=note, headline=True)


def rates(found: Measured, ours: Calls, theirs: Calls) -> list[float]:
    """Our calls per second over theirs, in each round."""
    pairs = zip(found[ours], found[theirs], strict=True)
    return [mine.rate / other.rate for mine, other in pairs]
