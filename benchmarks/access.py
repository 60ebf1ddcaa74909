"""What a credential adds to a call, and what many callers leave in the portal's memory.

A small tool is called over HTTP on loopback, by one client in turns with every kind of
credential; what a kind adds is the median of what its rounds took more than the anonymous ones
beside them.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles

from benchmarks.credential_client import ANONYMOUS, ROUNDS, Turns, taken
from benchmarks.many_callers import Growth, grown
from benchmarks.members import Issuer, configure, credentials
from benchmarks.processes import SERVER_CORE, free_port, running
from benchmarks.table import Bar, Row

SECTION = "access"
FIRST_CALLS = 20
"""Tokens of each kind that are seen for the first time."""
ADDED, GROWN = 0.3, 20
"""The bars: milliseconds that a credential adds; MiB that callers leave."""
KINDS: Mapping[str, tuple[str, bool]] = {
    "access-token": ("the portal's own access token (JWT)", True),
    "api-token": ("a personal API token", True),
    "oidc": ("another issuer's JWT", False),
    "static-token": ("a static token", False),
}
"""Kinds of credential: what to call each, and whether the bar is about it."""


def measure() -> list[Row]:
    """What each kind adds, then the memory."""
    turns = _turns()
    rows = [added_row(kind, turns[kind], turns[ANONYMOUS]) for kind in KINDS]
    return [*rows, memory_row(grown())]


def _turns() -> dict[str, Turns]:
    issuer, port = Issuer(), free_port()
    with tempfile.TemporaryDirectory() as directory, issuer.serving():
        place = Path(directory)
        portal = configure(place, port, issuer=issuer)
        tokens = asyncio.run(credentials(place, portal, issuer, FIRST_CALLS))
        command = ["-m", "benchmarks.members", directory, str(port)]
        with running(command, port, core=SERVER_CORE):
            every: dict[str, Sequence[str]] = {ANONYMOUS: [""], **tokens}
            return taken(port, every)


def added_row(kind: str, turns: Turns, anonymous: Turns) -> Row:
    """The row of one kind of credential."""
    name, judged = KINDS[kind]
    added = turns.added(anonymous)
    low, _, high = quantiles(added)
    first = turns.first_added(anonymous)
    return Row(
        SECTION,
        f"what {name} adds to a call, p50",
        median(added),
        "ms",
        Bar("under", ADDED) if judged else None,
        f"anonymous {median(anonymous.rounds):.2f} ms; half of {ROUNDS} rounds from {low:.2f} to "
        f"{high:.2f} ms; at first sight {first:.2f} ms",
        headline=judged,
    )


def memory_row(found: Growth) -> Row:
    """The row of what the callers left."""
    return Row(
        SECTION,
        f"memory after {found.marks[-1]:,} different callers over that after {found.marks[0]:,}",
        found.whole,
        "MiB",
        Bar("at most", GROWN),
        found.note,
        headline=True,
    )
