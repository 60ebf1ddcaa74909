"""Weights are those of the formula, and say what a text is about."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.bm25 import MAX_WEIGHT, B, K, query_weights, rarity, term_id, text_weights

COUNTS = st.dictionaries(
    st.text("abc", min_size=1, max_size=3), st.integers(1, 50), min_size=1, max_size=10
)


def of(counts: dict[str, int], average: float = 50.0) -> dict[int, float]:
    sparse = text_weights(counts, average)
    return dict(zip(sparse.indices, sparse.values, strict=True))


@given(COUNTS, st.floats(1, 500))
def test_a_weight_is_that_of_the_formula(counts: dict[str, int], average: float) -> None:
    length = sum(counts.values())
    for term, often in counts.items():
        expected = often * (K + 1) / (often + K * (1 - B + B * length / average))
        assert of(counts, average)[term_id(term)] == pytest.approx(expected)


@given(COUNTS, st.text("abc", min_size=1, max_size=3))
def test_saying_a_word_once_more_counts_for_it_and_against_the_others(
    counts: dict[str, int], term: str
) -> None:
    before, after = of(counts), of({**counts, term: counts.get(term, 0) + 1})
    mine = term_id(term)
    assert before.get(mine, 0.0) < after[mine] < MAX_WEIGHT
    assert all(after[other] < weight for other, weight in before.items() if other != mine)


def test_a_question_has_each_term_once() -> None:
    sparse = query_weights(["pump", "valve", "pump"])
    assert sparse.indices == (term_id("pump"), term_id("valve"))
    assert sparse.values == (1.0, 1.0)
    assert query_weights([]).indices == ()


def test_nothing_weighs_nothing() -> None:
    assert of(Counter()) == {}


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n))))
def test_the_fewer_have_a_term_the_more_it_tells(counts: tuple[int, int]) -> None:
    texts, having = counts
    assert rarity(texts, having) > 0
    assert rarity(texts, having) < rarity(texts, having - 1)
    assert rarity(texts, having) == pytest.approx(math.log((texts + 1) / (having + 0.5)), abs=1e-9)
