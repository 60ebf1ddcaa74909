from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from plugins.skills_repo import access_cache
from plugins.skills_repo.access_cache import MAX_TTL_S, AccessCache


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_proof_holds_for_ten_minutes_from_when_it_was_asked() -> None:
    clock = Clock()
    kept = AccessCache(seconds=86400, clock=clock)
    mark = kept.mark("ghp_a", "person:a", "o/r")
    assert not kept.holds(mark)
    kept.proved(mark, clock() - 5)
    clock.now += MAX_TTL_S - 5.1
    assert kept.holds(mark)
    clock.now += 0.2
    assert not kept.holds(mark)


def test_a_refusal_ends_a_proof() -> None:
    kept = AccessCache()
    mark = kept.mark("ghp_a", "", "o/r")
    kept.proved(mark, kept._clock())
    kept.refused(mark)
    kept.refused(mark)
    assert not kept.holds(mark)


@given(st.tuples(st.text(), st.text(), st.text()), st.tuples(st.text(), st.text(), st.text()))
def test_a_proof_is_for_one_token_one_caller_and_one_repository(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    kept = AccessCache()
    assert (kept.mark(*one) == kept.mark(*other)) == (one == other)


def test_another_process_knows_a_token_by_another_mark() -> None:
    assert AccessCache().mark("ghp_a", "", "o/r") != AccessCache().mark("ghp_a", "", "o/r")


def test_only_so_many_are_remembered_and_no_token_is_among_them() -> None:
    kept = AccessCache()
    marks = [kept.mark(f"ghp_token{n}", "", "o/r") for n in range(access_cache.CACHE_SIZE + 10)]
    for mark in marks:
        kept.proved(mark, kept._clock())
    assert not kept.holds(marks[0])
    assert kept.holds(marks[-1])
    assert len(kept._proved) == access_cache.CACHE_SIZE
    assert "ghp_token" not in str(_all(kept))


def _all(kept: AccessCache) -> Mapping[str, object]:
    return vars(kept)
