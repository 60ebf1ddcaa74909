"""The bars for Go's edges, on programs with known edges."""

from __future__ import annotations

import pytest

from tests.plugins.codegraph.accuracy.harness import cases, measure, report

SCORES = measure(cases("go"))


@pytest.mark.parametrize("kind", ["calls", "extends", "implements", "imports"])
def test_edges_are_right_and_found(kind: str) -> None:
    score = SCORES["go", kind, ""]
    assert score.precision >= 0.97, report(SCORES)
    assert score.recall >= 0.95, report(SCORES)


def test_there_are_enough_of_them() -> None:
    score = SCORES["go", "calls", ""]
    assert len(score.right) + len(score.missing) >= 60
