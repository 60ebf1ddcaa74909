import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.confidence import DEFAULT_CONFIDENCE, Statement, aggregate

statements = st.lists(
    st.builds(Statement, origin=st.sampled_from("abc"), confidence=st.none() | st.floats(0, 1))
)


@given(statements)
def test_confidence_lies_between_the_surest_statement_and_1(claims: list[Statement]) -> None:
    sure = [DEFAULT_CONFIDENCE if each.confidence is None else each.confidence for each in claims]
    assert max(sure, default=0.0) <= aggregate(claims) <= 1.0


@given(statements, st.randoms(use_true_random=False))
def test_order_makes_no_difference(claims: list[Statement], chance: object) -> None:
    shuffled = chance.sample(claims, len(claims))  # type: ignore[attr-defined]
    assert aggregate(shuffled) == aggregate(claims)


@given(statements, statements)
def test_more_statements_never_make_a_claim_less_sure(
    claims: list[Statement], more: list[Statement]
) -> None:
    assert aggregate([*claims, *more]) >= aggregate(claims) - 1e-12


@given(statements)
def test_who_says_a_thing_twice_does_not_make_it_surer(claims: list[Statement]) -> None:
    assert aggregate([*claims, *claims]) == aggregate(claims)


def test_doubts_of_independent_origins_are_multiplied() -> None:
    assert aggregate([Statement("a", 0.6), Statement("b", 0.5)]) == pytest.approx(0.8)
    assert aggregate([Statement("a", 0.6), Statement("a", 0.5)]) == pytest.approx(0.6)
    assert aggregate([Statement("a"), Statement("b")]) == pytest.approx(0.75)


def test_a_statement_alone_counts_as_it_is() -> None:
    assert aggregate([Statement("a", 0.3)]) == 0.3
    assert aggregate([Statement("a")]) == DEFAULT_CONFIDENCE == 0.5
    assert aggregate([]) == 0.0


def test_a_statement_that_is_certain_leaves_no_doubt() -> None:
    assert aggregate([Statement("a", 1.0), Statement("b", 0.0)]) == 1.0
