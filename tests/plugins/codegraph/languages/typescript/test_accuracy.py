"""The bars for edges, on the fixtures with ground truth."""

from __future__ import annotations

from functools import cache

import pytest

from tests.plugins.codegraph.accuracy.harness import Score, cases, measure, report


@cache
def scores(language: str) -> dict[tuple[str, str, str], Score]:
    return measure(cases(language))


@pytest.mark.parametrize(
    ("language", "kind", "precision", "recall"),
    [
        ("javascript", "calls", 0.97, 0.95),
        ("typescript", "calls", 0.97, 0.95),
        ("javascript", "extends", 0.95, 0.95),
        ("typescript", "extends", 0.95, 0.95),
        ("typescript", "implements", 0.95, 0.95),
        ("javascript", "imports", 0.95, 0.95),
        ("typescript", "imports", 0.95, 0.95),
    ],
)
def test_edges_are_right_and_found(
    language: str, kind: str, precision: float, recall: float
) -> None:
    score = scores(language)[language, kind, ""]
    assert score.precision >= precision, report(scores(language))
    assert score.recall >= recall, report(scores(language))


def test_the_fixtures_have_enough_edges() -> None:
    found = [scores(name)[name, "calls", ""] for name in ("javascript", "typescript")]
    assert sum(len(each.right) + len(each.missing) for each in found) >= 150


def test_what_must_stay_open_stays_open() -> None:
    from tests.plugins.codegraph.linker.in_memory import link_tree

    for case in (*cases("javascript"), *cases("typescript")):
        wanted = case.expected().get("unresolved")
        if wanted is not None:
            linked = link_tree("case", case.files())
            found = {f"{each.path}::{each.name}" for each in linked.unresolved}
            assert found == set(wanted), case.name


def test_open_calls_have_the_names_that_are_written() -> None:
    from tests.plugins.codegraph.linker.in_memory import link_tree

    source = (
        b"export function f(g: any) { if (g) { const h = g.a; h(); } }\n"
        b"class K { #x() {} m(o: any) { o.#x(); } }\n"
    )
    assert {each.name for each in link_tree("r", {"a.ts": source}).unresolved} == {"h", "#x"}
