"""Mutation testing: how many small changes to the code that decides its tests notice.

``python -m scripts.mutants [SET ...]`` takes the sets of :mod:`scripts.mutant_sets` one by one,
all of them where none is named. It copies the tree to ``build/mutants/SET``, runs mutmut there at
low priority, prints what survived and a table, and ends with 1 where a module is below the
Knowledge Provider protocol's mark ("Mutation Testing").
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from configparser import RawConfigParser
from pathlib import Path

from scripts.mutant_sets import SETS, MutantSet

ROOT = Path(__file__).parents[1]
COPIES = ROOT / "build" / "mutants"
COPIED = ("auth", "docs", "gateway", "plugins", "tests", "pyproject.toml")
MARK = 0.9
"""The share of a module's mutants that its tests have to kill; equivalent ones do not count."""
KILLED = frozenset({"killed", "timeout", "segfault", "suspicious"})
EQUIVALENT = "equivalent"


def copy(place: Path) -> None:
    """Copy what git tracks, or would, into an empty directory."""
    shutil.rmtree(place, ignore_errors=True)
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *COPIED]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)


def configure(place: Path, chosen: MutantSet) -> None:
    """Tell mutmut in a copy what to mutate and which tests to run."""
    settings = RawConfigParser()
    settings["mutmut"] = {
        "source_paths": chosen.package,
        "only_mutate": "\n".join(chosen.modules),
        "pytest_add_cli_args_test_selection": "\n".join(chosen.tests),
        "also_copy": "docs",
    }
    with (place / "setup.cfg").open("w") as file:
        settings.write(file)


def mutmut(place: Path, *arguments: str, read: bool = False) -> str:
    """Run mutmut in a copy; what it printed, where that is read."""
    # In CI property-based tests try the same examples each time, and so do they here.
    environment = {**os.environ, "CI": "true"}
    command = ["nice", "-n", "15", sys.executable, "-m", "mutmut", *arguments]
    run = subprocess.run(
        command, cwd=place, check=True, env=environment, capture_output=read, text=True
    )
    return run.stdout if read else ""


def ends(results: Iterable[str]) -> dict[str, str]:
    """Which end each mutant met.

    Args:
        results: lines such as ``plugins.knowledge.memory.rights.access.x_keys__mutmut_1: killed``.
    """
    split = (line.strip().partition(": ") for line in results)
    return {name: end for name, colon, end in split if colon and "__mutmut_" in name}


def written(diff: str) -> str:
    """The lines that a mutant writes, without their indentation."""
    lines = (line for line in diff.splitlines() if line.startswith("+"))
    return "\n".join(line[1:].strip() for line in lines if not line.startswith("+++"))


def counted(found: Mapping[str, str]) -> dict[str, Counter[str]]:
    """How many mutants of each module met which end."""
    modules: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, end in found.items():
        modules[_module(name)][end] += 1
    return dict(modules)


def table(modules: Mapping[str, Counter[str]]) -> tuple[str, bool]:
    """The figures in markdown, and whether each module reaches the mark."""
    head = "| module | mutants | killed | equivalent | left |"
    lines, good = [head, "|---|---|---|---|---|"], bool(modules)
    for module, found in sorted(modules.items()):
        lines.append(_row(f"`{module}.py`", found))
        good = good and _killed(found) >= MARK * (found.total() - found[EQUIVALENT])
    lines.append(_row("all", sum(modules.values(), Counter())))
    return "\n".join(lines), good


def _row(name: str, found: Counter[str]) -> str:
    killed, equivalent = _killed(found), found[EQUIVALENT]
    left = found.total() - killed - equivalent
    return f"| {name} | {found.total()} | {killed} | {equivalent} | {left} |"


def _killed(found: Counter[str]) -> int:
    return sum(found[end] for end in KILLED)


def _module(name: str) -> str:
    """``access`` of ``plugins.knowledge.memory.rights.access.x_keys__mutmut_1``."""
    return name.rpartition(".")[0].rpartition(".")[2]


def run(name: str, jobs: int) -> bool:
    """Copy, mutate, test and tell; whether each module of a set reaches the mark."""
    chosen, place = SETS[name], COPIES / name
    copy(place)
    configure(place, chosen)
    mutmut(place, "run", "--max-children", f"{jobs}")
    found = ends(mutmut(place, "results", "--all", "true", read=True).splitlines())
    for mutant in [mutant for mutant, end in found.items() if end not in KILLED]:
        diff = mutmut(place, "show", mutant, read=True)
        if written(diff) in chosen.equivalent:
            found[mutant] = EQUIVALENT
        else:
            print(f"\n{found[mutant]}:\n{diff}")
    told, good = table(counted(found))
    print(f"\n{told}", flush=True)
    return good


def main() -> None:
    """Run the sets that are named."""
    parser = ArgumentParser(description="Count the mutants that the tests kill.")
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    asked = parser.parse_args()
    if strange := set(asked.sets) - set(SETS):
        parser.error(f"no set is called {', '.join(sorted(strange))}")
    below = [each for each in asked.sets or SETS if not run(each, asked.jobs)]
    if below:
        raise SystemExit(
            f"A module of {', '.join(below)} is below {MARK:.0%}: "
            "give its tests what tells its mutants apart."
        )


if __name__ == "__main__":
    main()
