"""How right the code graph's edges are: on fixtures with ground truth, and on real packages.

On real Python packages recall is measured against the calls that were traced while a package's
own tests ran, and precision on edges that were judged one by one
(:mod:`benchmarks.real_packages`). "Declared" also counts a call that the graph has as one of the
method which the one called overrides, as a language server would.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.real_packages import PACKAGES
from benchmarks.table import Bar, Row
from tests.plugins.codegraph.accuracy import harness

SECTION = "codegraph_accuracy"
CALLS = {  # the least precision and recall
    "python": (0.97, 0.60),
    "javascript": (0.95, 0.55),
    "typescript": (0.97, 0.75),
    "go": (0.97, 0.75),
    "java": (0.97, 0.75),
    "rust": (0.97, 0.75),
}
PLAIN = ("functions", "classes", "imports")
REAL_PRECISION, REAL_RECALL = 0.95, 0.78


def measure() -> list[Row]:
    """The fixtures of each language, and the real packages."""
    return [*_fixtures(), *_real_packages()]


def _fixtures() -> Iterator[Row]:
    scores = harness.measure(harness.cases())
    for language, least in CALLS.items():
        yield from _rows(f"{language} fixtures, calls", scores[language, "calls", ""], *least)
    plain, types = harness.Score(), harness.Score()
    for (language, kind, category), score in scores.items():
        if (language, kind) == ("python", "calls") and category in PLAIN:
            plain.add(score)
        if kind != "calls" and not category:
            types.add(score)
    yield from _rows("python fixtures, plain functions, classes, imports", plain, 0.97, 0.80)
    yield from _rows("all fixtures, extends, implements and imports", types, 0.95, 0.95)


def _rows(what: str, score: harness.Score, precision: float, recall: float) -> Iterator[Row]:
    note = f"{len(score.right) + len(score.missing)} true edges"
    yield Row(SECTION, f"{what}: precision", score.precision, "", Bar("at least", precision), note)
    yield Row(SECTION, f"{what}: recall", score.recall, "", Bar("at least", recall), note)


def _real_packages() -> Iterator[Row]:
    traced = found = declared = 0
    verdicts: list[bool] = []
    for package in PACKAGES:
        hits = package.traced & package.calls
        through = [pair for pair in package.traced - hits if package.through_a_base(pair)]
        traced, found = traced + len(package.traced), found + len(hits)
        declared += len(hits) + len(through)
        verdicts += [v for pair, v in package.verdicts().items() if pair in package.calls]
        share = len(hits) / len(package.traced)
        note = f"{len(package.traced)} traced pairs of {package.version}"
        yield Row(SECTION, f"{package.name}: recall of traced calls", share, note=note)
    what, bar = "calls in real Python packages", Bar("at least", REAL_RECALL)
    note = f"{traced} traced pairs"
    yield Row(SECTION, f"{what}: recall", found / traced, "", bar, note, headline=True)
    yield Row(SECTION, f"{what}: recall, declared", declared / traced, note=note)
    if verdicts:
        bar = Bar("at least", REAL_PRECISION)
        note = f"{len(verdicts)} edges, judged one by one"
        share = sum(verdicts) / len(verdicts)
        yield Row(SECTION, f"{what}: precision", share, "", bar, note, headline=True)
