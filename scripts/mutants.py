"""Mutation testing of memory's algorithms: how many mutants their tests kill.

``python scripts/mutants.py`` copies the tree to ``build/mutants`` and runs mutmut there at low
priority, as ``[tool.mutmut]`` in ``pyproject.toml`` says, prints a table and what survived, and
ends with 1 where a module is below the Knowledge Provider protocol's mark ("Mutation Testing").
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPY = ROOT / "build" / "mutants"
COPIED = ("auth", "gateway", "plugins", "tests", "pyproject.toml")
MARK = 0.9
"""The share of a module's mutants that its tests have to kill."""
KILLED = frozenset({"killed", "timeout", "segfault", "suspicious"})


def copy() -> None:
    """Copy what git tracks, or would, into an empty directory."""
    shutil.rmtree(COPY, ignore_errors=True)
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *COPIED]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, COPY / name)


def mutmut(*arguments: str, read: bool = False) -> str:
    """Run mutmut in the copy; what it printed, where that is read."""
    # In CI property-based tests try the same examples each time, and so do they here.
    environment = {**os.environ, "CI": "true"}
    command = ["nice", "-n", "15", sys.executable, "-m", "mutmut", *arguments]
    run = subprocess.run(
        command, cwd=COPY, check=True, env=environment, capture_output=read, text=True
    )
    return run.stdout if read else ""


def counted(results: Iterable[str]) -> dict[str, Counter[str]]:
    """How many mutants of each module met which end.

    Args:
        results: lines such as ``plugins.knowledge.memory.rights.access.x_keys__mutmut_1: killed``.
    """
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in results:
        name, colon, end = line.strip().partition(": ")
        if colon and "__mutmut_" in name:
            found[_module(name)][end] += 1
    return dict(found)


def table(found: Mapping[str, Counter[str]]) -> tuple[str, bool]:
    """The figures in markdown, and whether each module reaches the mark."""
    lines, good = ["| module | mutants | killed | share |", "|---|---|---|---|"], bool(found)
    for module, ends in sorted(found.items()):
        killed = sum(ends[end] for end in KILLED)
        good = good and killed >= MARK * ends.total()
        share = killed / ends.total()
        lines.append(f"| `{module}.py` | {ends.total()} | {killed} | {share:.0%} |")
    return "\n".join(lines), good


def _module(name: str) -> str:
    """``access`` of ``plugins.knowledge.memory.rights.access.x_keys__mutmut_1``."""
    return name.rpartition(".")[0].rpartition(".")[2]


def main() -> None:
    """Copy, mutate, test and tell."""
    copy()
    mutmut("run", "--max-children", str(os.cpu_count() or 1))
    results = mutmut("results", "--all", "true", read=True).splitlines()
    for line in results:
        name, _, end = line.strip().partition(": ")
        if "__mutmut_" in name and end not in KILLED:
            print(f"\n{end}:\n{mutmut('show', name, read=True)}")
    told, good = table(counted(results))
    print(f"\n{told}")
    if not good:
        raise SystemExit(f"A module is below {MARK:.0%}: give its tests what tells them apart.")


if __name__ == "__main__":
    main()
