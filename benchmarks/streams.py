"""10,000 clients that only listen, and 1,000 that call meanwhile, on one process.

The portal is ``porch serve`` with all shipped plugins. Half of the streams are of each era; a
hundred come from each address of 127.0.0.0/8, so that the shares are those of a portal as shipped.
"""

from __future__ import annotations

import asyncio
import json
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from benchmarks.listeners import ERAS, Address, Caller, Listener
from benchmarks.portal import Portal
from benchmarks.processes import (
    ABOVE_LOAD,
    CLIENT_CORE,
    ROOT,
    SERVER_CORE,
    cpu_seconds,
    free_port,
    launched,
    memory,
    pin,
    starved_seconds,
)
from benchmarks.table import Bar, Row, Unmeasurable

SECTION = "streams"
STREAMS, IDLE_STREAMS, STORM, ACTIVE = 10_000, 1_000, 1_000, 1_000
SETTLE_SECONDS, IDLE_SECONDS, LOAD_SECONDS = 65.0, 30.0, 15.0
AT_ONCE = 100
"""Clients that connect at the same time, but in a storm."""
PAUSE_SECONDS = 2.0
"""Seconds between two calls of an active client."""
PROBED_SECONDS = 8.0
"""How long one client calls without a pause; in the middle of it every list changes."""
_TOLD = b"notifications/tools/list_changed"


def measure() -> list[Row]:
    """Start a portal, and let them come."""
    import uvloop

    pin(CLIENT_CORE)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < STREAMS + 2 * ACTIVE:
        raise Unmeasurable(f"it takes {STREAMS + 2 * ACTIVE:,} open files, and {hard:,} may be")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as place, _portal(Path(place)) as portal:
        portal.await_ready()
        return uvloop.run(_Crowd(portal, Path(place)).measured())


@contextmanager
def _portal(place: Path) -> Generator[Portal]:
    config, port, begun = place / "config", free_port(), time.perf_counter()
    shutil.copytree(ROOT / "config", config)
    with (config / "portal.yaml").open("a") as file:
        file.write(f"\nlimits: {json.dumps(ABOVE_LOAD)}\n")
    where = ["--content", ROOT / "content", "--config", config, "--data", place / "data"]
    command = ["-m", "gateway.cli", "serve", "--port", str(port), *map(str, where)]
    with launched(command) as process:
        pin(SERVER_CORE, process.pid)
        yield Portal(port, process, begun)


@dataclass(frozen=True, slots=True)
class Calls:
    """What all active clients have seen.

    Attributes:
        times: the seconds of each call.
        starved: the share of the time in which the portal could have run and had no processor.
    """

    times: Sequence[float]
    starved: float

    @property
    def p99_ms(self) -> float:
        """The milliseconds within which 99 of 100 calls were answered."""
        return quantiles(self.times, n=100)[98] * 1000


class _Crowd:
    """The clients of one portal.

    Args:
        portal: where they connect.
        place: the directory of its ``config``.
    """

    def __init__(self, portal: Portal, place: Path) -> None:
        self._portal = portal
        self._tiers = place / "config" / "tiers.yaml"
        self._listeners: list[Listener] = []

    @property
    def _pid(self) -> int:
        return self._portal.process.pid

    async def measured(self) -> list[Row]:
        """Everything, one after the other."""
        await self._open(IDLE_STREAMS)
        await asyncio.sleep(SETTLE_SECONDS)
        rows = [await self._idle()]
        alone = await self._active()
        before = memory(self._pid)[0]
        await self._open(STREAMS - IDLE_STREAMS)
        rows += await self._list_changed()
        rows.append(_beside(await self._active(), alone))
        rows.append(await self._storm())
        held, most = memory(self._pid)
        for listener in self._listeners:
            listener.close()
        await asyncio.sleep(5)
        note = f"{held:.0f} MiB at the end; {memory(self._pid)[0]:.0f} once all had left, "
        note += f"{before:.0f} before most of them came"
        rows.append(_row("memory with them at its most", most, "MiB", 1024, note))
        return rows

    async def _open(self, number: int) -> None:
        first = len(self._listeners)
        for start in range(first, first + number, AT_ONCE):
            portion = range(start, min(start + AT_ONCE, first + number))
            opened = (Listener.opened(Address(self._portal.port, n), ERAS[n % 2]) for n in portion)
            self._listeners += await asyncio.gather(*opened)

    async def _idle(self) -> Row:
        before, begun = cpu_seconds(self._pid), time.perf_counter()
        await asyncio.sleep(IDLE_SECONDS)
        share = 100 * (cpu_seconds(self._pid) - before) / (time.perf_counter() - begun)
        return _row(f"with {IDLE_STREAMS:,} idle streams, of one core", share, "%", 2)

    async def _list_changed(self) -> list[Row]:
        """Save the tiers, which changes every list, while somebody calls again and again."""
        told = [listener.expect(_TOLD) for listener in self._listeners]
        command = ["-m", "benchmarks.listeners", str(self._portal.port), str(PROBED_SECONDS)]
        prober = await asyncio.create_subprocess_exec(
            sys.executable, *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        await asyncio.sleep(PROBED_SECONDS / 2)
        begun = time.perf_counter()
        self._tiers.write_text(self._tiers.read_text() + "\n# saved\n")
        times = sorted(await asyncio.wait_for(asyncio.gather(*told), 60))
        probed = json.loads((await prober.communicate())[0])
        quiet = max(took for at, took in probed if at < begun)
        longest = max(took for at, took in probed if at + took > times[0] and at < times[-1])
        note = f"from the first client to the last; {times[-1] - begun:.2f} s after the file"
        note += " was saved, which is noticed within a second"
        before = f"{quiet * 1000:.1f} ms while nothing was told"
        return [
            _row("list-changed to all of them", times[-1] - times[0], "s", 1, note),
            _row("the longest call meanwhile", longest * 1000, "ms", 50, before),
        ]

    async def _active(self) -> Calls:
        """Clients that call every other second, beside those that listen."""
        starved, until = starved_seconds(self._pid), time.perf_counter() + LOAD_SECONDS
        numbers = range(STREAMS + 1, STREAMS + 1 + ACTIVE)
        calls = await asyncio.gather(*(self._calls(n, until) for n in numbers))
        times = [each for of_one in calls for each in of_one]
        return Calls(times, (starved_seconds(self._pid) - starved) / LOAD_SECONDS)

    async def _calls(self, number: int, until: float) -> list[float]:
        await asyncio.sleep(number % ACTIVE / ACTIVE * PAUSE_SECONDS)
        times = []
        async with Caller.connected(Address(self._portal.port, number)) as caller:
            while time.perf_counter() < until:
                times.append(await caller.call())
                await asyncio.sleep(PAUSE_SECONDS)
        return times

    async def _storm(self) -> Row:
        """A thousand lose their connections at once, and come back at once."""
        gone, self._listeners = self._listeners[:STORM], self._listeners[STORM:]
        for listener in gone:
            listener.close()
        begun = time.perf_counter()
        self._listeners += await asyncio.gather(*(listener.again() for listener in gone))
        return _row(f"{STORM:,} reconnect", time.perf_counter() - begun, "s", 2)


def _beside(calls: Calls, alone: Calls) -> Row:
    """The calls beside all streams, next to those beside few."""
    note = (
        f"{len(calls.times):,} calls of {ACTIVE:,} clients, none wrong; the portal had to wait "
        f"for a processor {calls.starved:.0%} of the time; beside {IDLE_STREAMS:,} streams "
        f"{alone.p99_ms:.1f} ms and {alone.starved:.0%}"
    )
    return _row("p99 of a call beside them", calls.p99_ms, "ms", 100, note)


def _row(what: str, value: float, unit: str, limit: float, note: str = "") -> Row:
    bar = Bar("under", limit)
    return Row(SECTION, f"{STREAMS:,} streams: {what}", value, unit, bar, note, headline=True)
