"""The ground truth of JavaScript's fixtures holds when the programs run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.codegraph.accuracy.harness import Case, cases
from tests.plugins.codegraph.accuracy.trace_js import traced

MAIN = {
    "callbacks": "main.mjs",
    "classes": "main.js",
    "commonjs": "main.js",
    "functions": "main.mjs",
    "hard": "main.mjs",
    "modules": "app/main.js",
    "objects": "main.mjs",
    "prototypes": "main.js",
}
CASES = [each for each in cases("javascript") if each.category in MAIN]


def member(edge: str) -> tuple[str, str]:
    """The caller and the last name of what it calls: an override is called by the same name."""
    source, _, target = edge.partition(" -> ")
    return source, target.rpartition("::")[2].rpartition(".")[2]


@pytest.mark.parametrize("case", CASES, ids=lambda each: each.category)
def test_what_a_program_calls_is_in_the_truth(case: Case, tmp_path: Path) -> None:
    expected = set(case.expected()["calls"])
    at_file_level = {each.partition(" -> ")[2] for each in expected if "::" not in each.split()[0]}
    by_name = {member(each) for each in expected}
    seen = traced(case.root, MAIN[case.category], tmp_path)
    assert len(seen) > 10
    for edge in sorted(seen):
        source, _, target = edge.partition(" -> ")
        if source:
            assert edge in expected or member(edge) in by_name
        else:
            assert target in at_file_level
