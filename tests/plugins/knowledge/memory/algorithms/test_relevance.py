import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.relevance import (
    FAR,
    FLOOR,
    HALF_BM25,
    NEAR,
    W_BM25,
    fit,
    merge_results,
    score,
    sort_by_score,
    words_score,
)
from plugins.knowledge.memory.model.query_context import Scored
from plugins.knowledge.memory.model.requests import Mode

START = datetime(2026, 1, 1, tzinfo=UTC)
shares = st.floats(0, 1)
found = st.builds(
    Scored,
    id=st.sampled_from("abcde"),
    score=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    changed=st.integers(0, 3).map(lambda days: START + timedelta(days=days)),
)


@given(st.sampled_from(Mode), st.none() | shares, shares)
def test_a_score_lies_between_0_and_1(mode: Mode, similarity: float | None, words: float) -> None:
    assert 0.0 <= score(mode, similarity, words) <= 1.0


@given(st.sampled_from(Mode), shares, shares, shares, shares)
def test_more_of_a_signal_never_makes_a_score_smaller(
    mode: Mode, alike: float, more_alike: float, words: float, more_words: float
) -> None:
    less = score(mode, min(alike, more_alike), min(words, more_words))
    more = score(mode, max(alike, more_alike), max(words, more_words))
    assert less <= more + 1e-12


def test_each_mode_counts_its_own_signals() -> None:
    assert score(Mode.SEMANTIC, 0.4, 0.9) == 0.4
    assert score(Mode.KEYWORD, 0.4, 0.9) == 0.9
    both = math.tanh(0.4 + W_BM25 * HALF_BM25)
    assert score(Mode.HYBRID, 0.4, words_score(HALF_BM25)) == pytest.approx(both)
    assert score(Mode.HYBRID, 0.0, 1.0) == 1.0


@pytest.mark.parametrize("mode", Mode)
def test_where_there_is_no_similarity_words_are_all_there_is(mode: Mode) -> None:
    assert score(mode, None, 0.3) == 0.3


@given(shares, shares)
def test_words_never_make_an_answer_worse(similarity: float, words: float) -> None:
    assert score(Mode.HYBRID, similarity, words) >= score(Mode.HYBRID, similarity, 0.0)
    assert similarity <= fit(similarity, words) <= 1.0


@given(shares, shares, shares, shares)
def test_of_two_answers_the_one_with_more_of_both_comes_first(
    alike: float, words: float, more_alike: float, more_words: float
) -> None:
    """Evidence adds up: no cut and no bend turns two answers round."""
    one, other = sorted(((alike, words), (more_alike, more_words)))
    if one[1] <= other[1]:
        assert score(Mode.HYBRID, *one) <= score(Mode.HYBRID, *other)


def test_one_common_word_is_no_fit() -> None:
    assert fit(0.1, words_score(5.0)) < FLOOR < fit(0.35, words_score(5.0))


@given(st.floats(-5, 1e6), st.floats(-5, 1e6))
def test_a_higher_bm25_score_is_worth_at_least_as_much(one: float, other: float) -> None:
    assert words_score(min(one, other)) <= words_score(max(one, other))


def test_the_scale_of_words() -> None:
    assert words_score(0.0) == words_score(-1.0) == 0.0
    assert words_score(HALF_BM25) == 0.5
    assert words_score(1e9) == pytest.approx(1.0)


@given(st.lists(found, unique_by=lambda one: one.id))
def test_results_come_best_first_then_newest_then_by_id(results: list[Scored]) -> None:
    shown = sort_by_score(results)
    assert sorted(shown, key=lambda one: one.id) == sorted(results, key=lambda one: one.id)
    for before, after in pairwise(shown):
        assert before.score >= after.score
        if before.score == after.score:
            assert before.changed >= after.changed
            if before.changed == after.changed:
                assert before.id < after.id


@given(st.lists(st.lists(found), max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_layers_and_of_what_they_found_makes_no_difference(
    layers: list[list[Scored]], chance: object
) -> None:
    shuffled = [chance.sample(each, len(each)) for each in layers]  # type: ignore[attr-defined]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert merge_results(shuffled) == merge_results(layers)


@given(st.lists(st.lists(found), max_size=4))
def test_what_several_layers_found_is_listed_once_at_its_best(layers: list[list[Scored]]) -> None:
    every = [one for layer in layers for one in layer]
    result = merge_results(layers)
    assert {one.id for one in result} == {one.id for one in every}
    assert len({one.id for one in result}) == len(result)
    for one in result:
        assert one.score == max(each.score for each in every if each.id == one.id)
    assert result == sort_by_score(result)


def test_who_is_named_counts_as_far_as_they_speak_of_the_matter() -> None:
    far, near = (
        score(Mode.HYBRID, alike, 0.0, is_named=True) - score(Mode.HYBRID, alike, 0.0)
        for alike in (FAR, NEAR)
    )
    assert far == 0.0 < near
