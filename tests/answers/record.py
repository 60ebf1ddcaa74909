"""Records the answers anew: ``python -m tests.answers.record [--porch PATH] [--into DIRECTORY]``.

Do so where an answer is meant to change, and look at the difference line by line before you commit
it: whatever stands in ``recording/`` is what callers get today.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.answers.areas import cli, mcp, pages, rest, tools, writes
from tests.answers.portal import serving
from tests.answers.recorder import Recorder

RECORDING = Path(__file__).with_name("recording")
AREAS = {
    "mcp": mcp.record,
    "tools": tools.record,
    "playbook": writes.playbook,
    "memory": writes.memory,
    "workspace": writes.workspace,
    "rest": rest.routes,
    "rest-writes": rest.writes,
    "memory-api": rest.memory,
    "pages": pages.pages,
    "oauth": pages.oauth,
    "cli": cli.record,
}


def recorded(root: Path, porch: Path | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """Ask a portal everything.

    Args:
        root: an empty directory for it.
        porch: the command; the one beside this Python, if not given.

    Returns:
        The cases of each area, and the long bodies by their digests.
    """
    areas: dict[str, Any] = {}
    with serving(root, porch) as portal:
        recorder = Recorder(portal)
        with recorder.http:
            for name, record in AREAS.items():
                recorder.cases = areas[name] = {}
                record(recorder)
    return areas, recorder.bodies


def lines(cases: Mapping[str, Any]) -> list[str]:
    """Cases as the lines of a file, in the order of their names: one JSON object a line."""
    return [json.dumps({"case": name, **cases[name]}, ensure_ascii=False) for name in sorted(cases)]


def read(area: str) -> dict[str, Any]:
    """The recorded cases of an area."""
    text = (RECORDING / f"{area}.jsonl").read_text(encoding="utf-8")
    cases = [json.loads(line) for line in text.splitlines()]
    return {case.pop("case"): case for case in cases}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--porch", type=Path, help="the command to record")
    parser.add_argument("--into", type=Path, default=RECORDING, help="where the files go")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        areas, bodies = recorded(Path(directory), chosen.porch)
    chosen.into.mkdir(parents=True, exist_ok=True)
    for name, cases in areas.items():
        (chosen.into / f"{name}.jsonl").write_text("\n".join(lines(cases)) + "\n", "utf-8")
    write_bodies(bodies, Path("build") / "answers")
    sys.stdout.write(f"{sum(map(len, areas.values()))} answers in {chosen.into}\n")


def write_bodies(bodies: Mapping[str, str], directory: Path) -> None:
    """Keep long bodies where a person can compare them; a recording has only their digests."""
    directory.mkdir(parents=True, exist_ok=True)
    for digest, text in bodies.items():
        (directory / f"{digest}.txt").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
