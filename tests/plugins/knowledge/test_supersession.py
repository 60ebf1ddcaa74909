"""What leads back to itself in a graph of what supersedes what."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.supersession import in_circles

GRAPHS = st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("abcdef")))


def reached(later: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    left = set(later.get(start, ()))
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left |= later.get(one, set())
    return found


@given(later=GRAPHS)
def test_what_supersedes_itself_by_others_is_found_and_the_rest_ends_somewhere(
    later: dict[str, set[str]],
) -> None:
    circles = in_circles(later)
    for one, some in later.items():
        for other in some:
            if one in reached(later, other) or one == other:
                assert other in circles[one]
    kept = {one: some - circles.get(one, set()) for one, some in later.items()}
    assert not [one for one in kept if one in reached(kept, one)]


@given(later=GRAPHS)
def test_without_a_circle_nothing_is_taken_away(later: dict[str, set[str]]) -> None:
    forward = {one: {other for other in some if other > one} for one, some in later.items()}
    assert in_circles(forward) == {}


def test_a_ring_of_ten_thousand_is_one_circle() -> None:
    size = 10_000
    ring = {str(each): {str((each + 1) % size)} for each in range(size)}
    assert in_circles(ring) == ring
