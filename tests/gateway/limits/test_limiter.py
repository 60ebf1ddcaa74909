import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.limits.limiter import Limiter


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_key_is_told_how_long_to_wait_once_it_has_had_its_times(clock):
    limiter = Limiter(2, 60, clock=clock)
    assert limiter.allow("ana") is None
    clock.now = 10
    assert limiter.allow("ana") is None
    clock.now = 25
    assert limiter.allow("ana") == 35
    clock.now = 60
    assert limiter.allow("ana") is None
    assert limiter.allow("ana") == 10


def test_keys_do_not_share_their_times(clock):
    limiter = Limiter(1, 60, clock=clock)
    assert limiter.allow("ana") is None
    assert limiter.allow("ben") is None
    assert limiter.allow("ana")


def test_asking_in_vain_makes_nobody_wait_longer(clock):
    limiter = Limiter(1, 60, clock=clock)
    limiter.allow("ana")
    for second in range(1, 60):
        clock.now = second
        assert limiter.allow("ana") == 60 - second
    clock.now = 60
    assert limiter.allow("ana") is None


@given(
    limit=st.integers(1, 5),
    window=st.integers(1, 20),
    steps=st.lists(st.tuples(st.integers(0, 12), st.sampled_from("ab")), max_size=200),
)
def test_no_window_ever_holds_more_than_the_limit_and_the_wait_is_exact(limit, window, steps):
    clock = Clock()
    limiter = Limiter(limit, window, clock=clock)
    allowed: dict[str, list[float]] = {"a": [], "b": []}
    for step, key in steps:
        clock.now += step
        within = [each for each in allowed[key] if each > clock.now - window]
        wait = limiter.allow(key)
        if wait is None:
            allowed[key].append(clock.now)
            assert len(within) < limit
        else:
            assert len(within) == limit
            assert wait == within[0] + window - clock.now > 0


def test_a_hundred_thousand_keys_take_the_memory_of_those_that_are_remembered(clock):
    limiter = Limiter(30, 60, clock=clock)
    tracemalloc.start()
    try:
        for number in range(100_000):
            limiter.allow(f"2001:db8:{number:x}::/64")
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 5 * 2**20


def test_a_key_that_does_it_once_takes_little_more_than_its_name(clock):
    keys = [f"2001:db8:{number:x}::/64" for number in range(16_384)]
    limiter = Limiter(30, 60, peers=len(keys), clock=clock)
    tracemalloc.start()
    try:
        for key in keys:
            limiter.allow(key)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used / len(keys) < 120


@given(peers=st.integers(2, 9), names=st.lists(st.sampled_from("abcdefghijkl"), max_size=120))
def test_the_keys_heard_of_last_are_remembered_and_no_more_than_may_be(peers, names):
    limiter = Limiter(1, 60, peers=peers, clock=Clock())
    heard: list[str] = []
    for name in names:
        limiter.allow(name)
        heard = [name, *(each for each in heard if each != name)]
        remembered = [each for each in "abcdefghijkl" if each in limiter._late | limiter._early]
        assert set(heard[: peers // 2]) <= set(remembered)
        assert len(remembered) <= peers + 1


def test_who_was_not_heard_of_for_longest_is_forgotten_first(clock):
    limiter = Limiter(1, 60, peers=2, clock=clock)
    limiter.allow("ana")
    limiter.allow("ben")
    assert limiter.allow("ana")
    limiter.allow("cat")
    assert limiter.allow("ana")
    assert limiter.allow("ben") is None
