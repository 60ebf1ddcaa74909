"""Kills portals, syncs, indexes and imports again and again, and counts how often.

``python scripts/kills.py [KILLS]`` repeats the tests that end processes with ``kill -9``, at other
moments each time, until so many were ended (1,000 unless said otherwise), and prints the count by
what was killed. It ends with 1 at the first that has lost, doubled or halved something.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
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
    "jobs of replicas": ("tests/gateway/services/jobs/test_replicas.py",),
}


def main() -> int:
    """Kill until it was often enough; 1 where a test has failed."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    killed: Counter[str] = Counter()
    while killed.total() < wanted:
        before = killed.total()
        for subject, paths in TESTS.items():
            code, count = _killed(paths)
            killed[subject] += count
            print(f"{killed.total():6,} killed; {subject}: {killed[subject]:,}", flush=True)
            if code:
                return 1
        if killed.total() == before:
            sys.exit("Nothing was killed: the tests were skipped. They need what CI has.")
    return 0


def _killed(paths: tuple[str, ...]) -> tuple[int, int]:
    """Run tests: how they ended, and how often they have killed."""
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-k", "kill or import"]
        environment = {**os.environ, "HYPOTHESIS_PROFILE": "thorough"}
        done = subprocess.run(
            [*command, f"--junitxml={report.name}", *paths], cwd=ROOT, env=environment, check=False
        )
        # Written by pytest itself, just now.
        properties = ElementTree.parse(report.name).iter("property")  # noqa: S314
        counts = [int(each.get("value", 0)) for each in properties if each.get("name") == "kills"]
    return done.returncode, sum(counts)


if __name__ == "__main__":
    sys.exit(main())
