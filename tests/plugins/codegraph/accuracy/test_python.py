"""How right Python's edges are, against what running the cases calls."""

from __future__ import annotations

import contextlib
import io

import pytest

from tests.plugins.codegraph.accuracy.harness import Case, cases, measure, report
from tests.plugins.codegraph.accuracy.trace import traced

CASES = list(cases("python"))
GENERATORS_RUN_LATER = {"main.py::doubled -> main.py::records"}
"""A generator's body runs when its values are asked for; the call that makes it is elsewhere."""


def test_edges_are_right_and_few_are_missing() -> None:
    scores = measure(CASES)
    calls = scores["python", "calls", ""]

    assert len(calls.right) + len(calls.missing) >= 200
    assert calls.precision >= 0.97, report(scores)
    assert calls.recall >= 0.9, report(scores)


def test_plain_functions_classes_and_imports_are_nearly_all_found() -> None:
    scores = measure(case for case in CASES if case.category in ("plain", "classes", "imports"))
    calls = scores["python", "calls", ""]

    assert calls.precision >= 0.97, report(scores)
    assert calls.recall >= 0.95, report(scores)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.category)
def test_the_ground_truth_holds_what_running_the_case_calls(case: Case) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        seen = traced(case.root)

    assert seen - GENERATORS_RUN_LATER <= set(case.expected()["calls"])
