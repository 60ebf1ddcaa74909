"""Ratings and use move a search within bounds, in the direction of what people say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plugins.workflows.search.standing import HIGHEST, LOWEST, reordered, weight
from plugins.workflows.store.ratings import Standing

COUNTS = st.integers(0, 10**6)
SCORES = st.floats(0.01, 0.99)


@st.composite
def standings(draw: st.DrawFn) -> Standing:
    """Any that people can make."""
    ratings = draw(COUNTS)
    stars = draw(st.integers(ratings, 5 * ratings))
    started = draw(COUNTS)
    return Standing(ratings, stars, started, draw(st.integers(0, started)))


@given(standings())
def test_no_crowd_moves_a_score_beyond_the_bounds(standing: Standing) -> None:
    assert LOWEST <= weight(standing) <= HIGHEST


def test_without_ratings_and_use_nothing_moves() -> None:
    assert weight(Standing()) == 1
    assert weight(Standing(started=1000)) == 1, "to begin is not to finish"


@given(standings(), st.integers(1, 5), st.integers(1, 5))
def test_a_better_rating_never_lowers_and_a_worse_one_never_lifts(
    before: Standing, one: int, other: int
) -> None:
    def rated(stars: int) -> float:
        return weight(Standing(before.ratings + 1, before.stars + stars))

    assert (rated(one) <= rated(other)) or one > other
    assert weight(Standing(before.ratings, before.stars)) <= rated(5)
    assert weight(Standing(before.ratings, before.stars)) >= rated(1)


@given(standings())
def test_who_finishes_it_never_lowers_it(before: Standing) -> None:
    finished = before.finished + 1
    after = Standing(before.ratings, before.stars, finished, finished)
    assert weight(after) >= weight(before)


@given(st.dictionaries(st.text("abc", min_size=1), st.tuples(SCORES, standings()), min_size=1))
def test_what_fits_clearly_better_comes_first_whatever_people_say(
    given_: dict[str, tuple[float, Standing]],
) -> None:
    found = sorted(((id, score) for id, (score, _) in given_.items()), key=lambda each: -each[1])
    placed = reordered(found, {id: standing for id, (_, standing) in given_.items()})
    assert sorted(placed) == sorted(found), "nothing is lost, and no score is another"
    places = {id: at for at, (id, _) in enumerate(placed)}
    for one, better in found:
        for other, worse in found:
            if better * LOWEST > worse * HIGHEST:
                assert places[one] < places[other]


@given(st.lists(SCORES, min_size=1, unique=True))
def test_without_ratings_the_order_stays(scores: list[float]) -> None:
    found = [(f"w{at}", score) for at, score in enumerate(sorted(scores, reverse=True))]
    assert reordered(found, {}) == found


@given(SCORES, standings())
def test_nothing_comes_before_what_was_asked_for_by_its_name(
    score: float, standing: Standing
) -> None:
    found = [("named", 1.0), ("praised", score)]
    loathed = Standing(ratings=10**6, stars=10**6)
    assert reordered(found, {"named": loathed, "praised": standing}) == found


@given(st.floats(0.01, 0.97), st.floats(1.0, 1.02))
def test_of_what_fits_about_equally_the_better_rated_comes_first(
    worse: float, better_by: float
) -> None:
    found = [("first", worse * better_by), ("praised", worse)]
    praised = Standing(ratings=50, stars=250, started=50, finished=50)
    assert next(iter(reordered(found, {"praised": praised})))[0] == "praised"
