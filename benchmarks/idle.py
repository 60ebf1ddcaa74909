"""What a portal costs that nobody uses: all shipped plugins, the starter content, no connection."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.portal import spawned
from benchmarks.processes import ROOT, cpu_seconds
from benchmarks.table import Bar, Row

SECTION = "idle"
SETTLE_SECONDS, WATCHED_SECONDS = 65.0, 30.0
"""How long it is left alone at first (what runs jobs looks for schedules each second of the first
minute), and how long it is then watched."""
IDLE_PERCENT = 1.0
"""The bar: per cent of one core."""


def measure() -> list[Row]:
    """Start a portal, let it settle, and see how long its threads have a processor."""
    with tempfile.TemporaryDirectory() as data, spawned(ROOT / "content", Path(data)) as portal:
        portal.await_ready()
        time.sleep(SETTLE_SECONDS)
        before, begun = cpu_seconds(portal.process.pid), time.perf_counter()
        time.sleep(WATCHED_SECONDS)
        used = cpu_seconds(portal.process.pid) - before
        share = 100 * used / (time.perf_counter() - begun)
    return [
        Row(
            SECTION,
            "a portal that nobody uses, of one core",
            share,
            "%",
            Bar("under", IDLE_PERCENT),
            f"over {WATCHED_SECONDS:g} s, with the starter content and all shipped plugins",
            headline=True,
        )
    ]
