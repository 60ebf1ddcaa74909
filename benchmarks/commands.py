"""How long commands take that ask for no model, beside a portal that runs and without one."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.processes import ROOT
from benchmarks.table import Bar, Row

RUNS = 3
COMMAND_SECONDS = 0.7
"""The bar."""
BESIDE = ("--help", "status", "tools", "explain --as open --tool search_knowledge", "token list",
          "people list", "audit", "plugins", "upstreams status", "check", "doctor")  # fmt: skip
"""Commands that are timed while a portal runs."""
ALONE = ("status", "tools", "check", "doctor")
"""Commands that are timed where none does."""


def beside(section: str, data: Path) -> Iterator[Row]:
    """Rows for commands beside the portal that runs on a data directory."""
    return _rows(section, "beside a portal", BESIDE, data)


def alone(section: str, data: Path) -> Iterator[Row]:
    """Rows for commands on a data directory that no portal holds."""
    return _rows(section, "without a portal", ALONE, data)


def _rows(section: str, where: str, commands: Sequence[str], data: Path) -> Iterator[Row]:
    for command in commands:
        words = command.split()
        options = [] if words[-1] == "--help" or words[0] == "check" else ["--data", str(data)]
        seconds = [_run([*words, *options]) for _ in range(RUNS)]
        note = f"{RUNS} runs from {min(seconds):.2f} to {max(seconds):.2f} s"
        bar = Bar("under", COMMAND_SECONDS)
        yield Row(section, f"porch {command}, {where}", median(seconds), "s", bar, note)


def _run(words: Sequence[str]) -> float:
    begun = time.perf_counter()
    command = [sys.executable, "-m", "gateway.cli", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: it found something to tell
        raise RuntimeError(f"porch {' '.join(words)}: {done.returncode} {done.stderr[-500:]}")
    return time.perf_counter() - begun
