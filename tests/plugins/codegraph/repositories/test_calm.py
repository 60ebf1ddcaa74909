"""The rules over a whole graph wait until a repository is left alone, but not for ever."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plugins.codegraph.repositories.calm import CALM_S, PATIENCE_S, REST, Calm

LARGE = 10**6


class Clock:
    """A clock that is set by hand, in seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_a_large_repository_is_left_alone_for_a_while_first() -> None:
    clock = Clock()
    calm = Calm(clock)
    assert not calm.may_run("a", (1, 1), LARGE)
    clock.now += CALM_S - 1
    assert not calm.may_run("a", (1, 2), LARGE)
    clock.now += CALM_S - 1
    assert not calm.may_run("a", (1, 2), LARGE)
    clock.now += 1
    assert calm.may_run("a", (1, 2), LARGE)


def test_an_empty_one_is_not_waited_for() -> None:
    assert Calm(Clock()).may_run("a", (1, 1), 0)


def test_the_rules_rest_ten_times_as_long_as_they_took() -> None:
    clock = Clock()
    calm = Calm(clock)
    end = calm.begin("a")
    clock.now += 3
    end()
    clock.now += 3 * REST - 1
    assert not calm.may_run("a", (1, 1), 0)
    assert calm.may_run("b", (1, 1), 0)
    clock.now += 1
    assert calm.may_run("a", (1, 1), 0)


def test_a_push_long_after_the_last_one_is_no_late_one() -> None:
    clock = Clock()
    calm = Calm(clock)
    calm.may_run("a", (1, 1), LARGE)
    calm.keep([])  # somebody else ran the rules
    clock.now += PATIENCE_S
    assert not calm.may_run("a", (1, 2), LARGE)


@given(st.lists(st.floats(0.1, CALM_S - 0.1), min_size=1, max_size=100))
def test_without_end_of_changes_they_run_when_patience_ends(pauses: list[float]) -> None:
    clock = Clock()
    calm, began = Calm(clock), clock.now
    calm.may_run("a", (1, 0), LARGE)
    for generation, pause in enumerate(pauses, 1):
        clock.now += pause
        runs = calm.may_run("a", (1, generation), LARGE)
        assert runs == (clock.now - began >= PATIENCE_S)
