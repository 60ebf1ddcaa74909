"""What callers were answered when the recording was made, they are answered still.

A portal is started as a process on a fixed world and asked everything that ``areas/`` declares,
over MCP in both eras, REST, OAuth, pages and the command. Where an answer is meant to change,
``python -m tests.answers.record`` records it anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

from tests.answers.record import AREAS, read, recorded, write_bodies

MAX_SHOWN = 20


@pytest.mark.heavy
@pytest.mark.timeout(900)
def test_callers_are_answered_as_they_were(tmp_path: Path) -> None:
    areas, bodies = recorded(tmp_path)
    write_bodies(bodies, Path("build") / "answers")
    differences = [
        f"{area}: {each}" for area in AREAS for each in _differences(read(area), areas[area])
    ]
    assert not differences, f"{len(differences)} answers differ:\n" + "\n".join(
        differences[:MAX_SHOWN]
    )


def _differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """A diff of each case that is answered otherwise, or is there in one of the two alone."""
    for case in sorted(before.keys() | now.keys()):
        old, new = _lines(before.get(case)), _lines(now.get(case))
        if old != new:
            yield "\n".join(unified_diff(old, new, f"recorded: {case}", f"now: {case}", "", "", 2))


def _lines(answer: dict[str, Any] | None) -> list[str]:
    if answer is None:
        return []
    return json.dumps(answer, indent=1, ensure_ascii=False).splitlines()
