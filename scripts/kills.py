"""Kills portals, syncs, indexes and imports again and again, and counts how often.

``python scripts/kills.py [KILLS] [--minutes N]`` repeats the tests that end processes with ``kill
-9``, at other moments each time, until so many were ended (1,000 unless said otherwise) or the time
is over, and prints the count by what was killed. The tests of a round run beside each other, one
file on each core. It ends with 1 at the first that has lost, doubled or halved something.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
TESTS = {
    "a sync of notes": (
        "tests/plugins/knowledge/sync/test_killed.py",
        "tests/plugins/knowledge/sync/test_faults.py",
    ),
    "an index of notes": ("tests/faults/test_crash.py",),
    "memory": (
        "tests/plugins/knowledge/memory/batches/test_crash.py",
        "tests/plugins/knowledge/memory/upkeep/test_crash.py",
    ),
    "people who write": ("tests/faults/test_workflows_crash.py",),
    "an import": (
        "tests/plugins/workflows/files/test_crash.py",
        "tests/faults/test_workflows_import_crash.py",
    ),
    "an index of code": (
        "tests/plugins/codegraph/indexer/test_killed.py",
        "tests/faults/test_codegraph_faults.py",
    ),
    "what waits for a yes": ("tests/gateway/approvals/test_killed.py",),
    "calls of models": ("tests/gateway/services/models/test_kills.py",),
    "jobs of replicas": ("tests/gateway/services/jobs/test_replicas.py",),
}


_SUBJECTS = {
    path.removesuffix(".py").replace("/", "."): subject
    for subject, paths in TESTS.items()
    for path in paths
}


def main() -> int:
    """Kill until it was often enough; 1 where a test has failed."""
    parser = argparse.ArgumentParser(prog="scripts/kills.py", description=__doc__)
    parser.add_argument("kills", nargs="?", type=int, default=1_000)
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no round after that")
    given = parser.parse_args()
    killed: Counter[str] = Counter()
    began = time.monotonic()
    while killed.total() < given.kills and time.monotonic() - began < 60 * given.minutes:
        code, count = _killed()
        killed += count
        minutes = (time.monotonic() - began) / 60
        said = ", ".join(f"{what} {number:,}" for what, number in sorted(killed.items()))
        print(f"{killed.total():6,} killed in {minutes:.1f} min: {said}", flush=True)
        if code:
            return 1
        if not count:
            sys.exit("Nothing was killed: the tests were skipped. They need what CI has.")
    return 0


def _killed() -> tuple[int, Counter[str]]:
    """Run the tests once: how they ended, and how often they have killed what."""
    paths = [path for every in TESTS.values() for path in every]
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [sys.executable, "-m", "pytest", "-q", "-k", "kill or import", *paths]
        spread = ["-n", str(os.cpu_count()), "--dist", "loadfile", f"--junitxml={report.name}"]
        environment = {**os.environ, "HYPOTHESIS_PROFILE": "thorough"}
        done = subprocess.run([*command, *spread], cwd=ROOT, env=environment, check=False)
        # Written by pytest itself, just now.
        cases = ElementTree.parse(report.name).iter("testcase")  # noqa: S314
        count: Counter[str] = Counter()
        for case in cases:
            for each in case.iter("property"):
                if each.get("name") == "kills":
                    count[_SUBJECTS[case.get("classname", "")]] += int(each.get("value", 0))
    return done.returncode, count


if __name__ == "__main__":
    sys.exit(main())
