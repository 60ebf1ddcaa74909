"""Of a turn and what was found in it, one is an answer."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.relevance import sort_by_score
from plugins.knowledge.memory.algorithms.turns import AS_MUCH, without_repeats
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
