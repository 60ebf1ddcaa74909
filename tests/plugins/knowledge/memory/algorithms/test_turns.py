"""What turns of a conversation are worth; of a turn and what was found in it, one is an answer."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.relevance import sort_by_score
from plugins.knowledge.memory.algorithms.turns import (
    AS_MUCH,
    USUAL_CHARACTERS,
    W_QUESTION,
    ShortTurn,
    with_neighbours,
    without_repeats,
)
from plugins.knowledge.memory.model.query_context import Scored

AT = datetime(2026, 3, 1, tzinfo=UTC)
turns = st.lists(st.floats(0, 1), min_size=1, max_size=5)
found = st.lists(st.tuples(st.integers(1, 6), st.floats(0, 1)), max_size=8)


@given(turns, found)
def test_nothing_is_left_out_but_what_another_answer_says(
    said: list[float], facts: list[tuple[int, float]]
) -> None:
    ranked = [Scored(f"turn-{n}", score, AT, number=n) for n, score in enumerate(said, 1)]
    ranked += [
        Scored(f"fact-{n}", score, AT, number=10 + n, taken_from=turn)
        for n, (turn, score) in enumerate(facts)
    ]
    ranked = sort_by_score(ranked)
    kept = without_repeats(ranked)
    assert kept == [one for one in ranked if one in kept]
    numbers = {one.number for one in kept}
    assert numbers.isdisjoint({one.taken_from for one in kept})
    for one in ranked:
        if one in kept:
            continue
        if one.taken_from is not None:
            assert one.taken_from in numbers
        else:
            best = max(other.score for other in kept if other.taken_from == one.number)
            assert best >= AS_MUCH * one.score


def weighed(*said: Scored, **short: ShortTurn) -> dict[str, Scored]:
    """Turns with what their neighbours and their lengths tell, by their ids."""
    numbers = {one.id: one.number for one in said}
    turns = {numbers[id]: turn for id, turn in short.items()}
    return {one.id: one for one in with_neighbours(said, (), 0.0, turns)}


def turn(id: str, score: float, number: int, follows: int | None = None) -> Scored:
    return Scored(id, score, AT, fit=score, number=number, follows=follows)


@given(st.floats(0, 1), st.integers(1, 299), st.integers(1, 299))
def test_of_two_turns_alike_the_longer_is_worth_more(score: float, one: int, other: int) -> None:
    found = weighed(
        turn("one", score, 10, 1),
        turn("other", score, 20, 2),
        one=ShortTurn(one, False),
        other=ShortTurn(other, False),
    )
    assert all(0.0 <= each.score <= 1.0 for each in found.values())
    assert (one - other) * (found["one"].score - found["other"].score) >= 0.0


def test_a_turn_of_usual_length_and_what_is_no_turn_are_worth_what_they_are() -> None:
    found = weighed(
        turn("usual", 0.5, 10, 1),
        turn("note", 0.5, 20),
        turn("long", 0.5, 30, 3),
        usual=ShortTurn(USUAL_CHARACTERS, False),
        note=ShortTurn(4, False),
    )
    assert found["usual"].score == pytest.approx(0.5)
    assert found["note"].score == 0.5
    assert found["long"].score > 0.6


def test_the_turn_behind_one_that_asks_is_worth_nearly_as_much() -> None:
    asks = turn("asks", 0.8, 1)
    found = weighed(
        asks, turn("says", 0.1, 2, 1), asks=ShortTurn(30, True), says=ShortTurn(54, False)
    )
    assert found["says"].asked == "asks"
    assert found["says"].score == pytest.approx(W_QUESTION * asks.score)
    assert found["says"].fit == asks.fit
