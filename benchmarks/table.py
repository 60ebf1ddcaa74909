"""The rows that benchmarks give, and the one table they are shown in."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table


class Unmeasurable(Exception):
    """Something that a section needs is not on this machine; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What a value must reach.

    Attributes:
        kind: whether the limit is the least or the most that is good.
        limit: in the unit of the row's value.
    """

    kind: Literal["at least", "at most", "under"]
    limit: float

    def met(self, value: float) -> bool:
        """Whether a value reaches the bar."""
        if self.kind == "under":
            return value < self.limit
        return value >= self.limit if self.kind == "at least" else value <= self.limit


@dataclass(frozen=True, slots=True)
class Row:
    """One measured value.

    Attributes:
        section: the benchmark that it belongs to, such as ``overhead``.
        what: what was measured, in words.
        value: the value.
        unit: its unit, such as ``ms``, ``calls/s`` or ``MiB``; empty for a score or a ratio.
        bar: what it must reach, or None where it is only for information.
        note: what a reader must know to judge the value, such as its spread.
        headline: whether ``docs/benchmarks.md`` shows it.
    """

    section: str
    what: str
    value: float
    unit: str = ""
    bar: Bar | None = None
    note: str = ""
    headline: bool = False

    @property
    def missed(self) -> bool:
        """Whether the value does not reach its bar."""
        return self.bar is not None and not self.bar.met(self.value)

    @property
    def verdict(self) -> str:
        """``met`` or ``missed``; empty without a bar."""
        return "" if self.bar is None else "missed" if self.missed else "met"

    def cells(self) -> tuple[str, ...]:
        """The row as the table shows it."""
        wanted = f"{self.bar.kind} {self.bar.limit:g} {self.unit}".rstrip() if self.bar else ""
        value = number(self.value, self.unit)
        return self.section, self.what, value, wanted, self.verdict, self.note


COLUMNS = ("section", "what", "value", "bar", "", "note")


_ADDITIONS = 10_000_000


def number(value: float, unit: str) -> str:
    """A value with as many digits as it deserves, and its unit."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 20 else 2 if abs(value) >= 1 else 3
    text = f"{value:,.{digits}f}"
    return f"{text} {unit}".rstrip()


def machine() -> str:
    """The machine that measured: processor, cores, Python, and how fast it runs today.

    A shared machine may run at a third of its usual speed; the loop says so, beside the figures.
    """
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cpu = names[0] if names else platform.processor() or platform.machine()
    cores = os.cpu_count() or 1
    speed = f"{_ADDITIONS // 1_000_000} million additions take it {_loop_seconds():.2f} s"
    python = f"Python {platform.python_version()}"
    return f"{cpu}, {cores} cores, {python}, {platform.system()} ({speed})"


def _loop_seconds() -> float:
    """What a loop of plain Python takes: the same work on every machine."""
    began, total = time.perf_counter(), 0
    for number in range(_ADDITIONS):
        total += number
    return time.perf_counter() - began


def show(rows: Sequence[Row]) -> None:
    """Print the table to the terminal, or as plain columns where no person watches."""
    table = Table(title="Porch, measured", caption=machine())
    for name in COLUMNS:
        table.add_column(name, justify="right" if name == "value" else "left", overflow="fold")
    for row in rows:
        style = {"met": "green", "missed": "red"}.get(row.verdict, "")
        table.add_row(*row.cells(), style=style)
    console = Console()
    if not console.is_terminal:
        console.width = 160
    console.print(table)


def markdown(rows: Sequence[Row]) -> str:
    """Rows as a table in Markdown, which says of each missed bar that it is missed."""
    lines = ["| What | Measured | Bar |", "|---|---|---|"]
    for row in rows:
        _, what, value, wanted, verdict, _ = row.cells()
        lines.append(f"| {what} | {value} | {wanted}{', missed' * (verdict == 'missed')} |")
    return "\n".join(lines)
