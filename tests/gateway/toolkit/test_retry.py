"""What may pass is tried again, after pauses that grow and end."""

from __future__ import annotations

import asyncio
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.retry import Retry, backoff


class Away(Exception):
    """It does not answer, and may say when it will."""

    def __init__(self, after: float | None = None) -> None:
        self.after = after


def after(error: Exception) -> float | None:
    if not isinstance(error, Away):
        raise error
    return error.after


class Failing:
    """Fails as it is told, then succeeds; the pauses between are kept."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.pauses: list[float] = []

    async def __call__(self) -> str:
        if self.failures:
            raise self.failures.pop(0)
        return "done"

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


async def test_pauses_double_until_it_succeeds() -> None:
    work = Failing(Away(), Away(), Away())
    assert await Retry(first_s=2, sleep=work.sleep)(work, after) == "done"
    assert work.pauses == [2, 4, 8]


async def test_what_the_other_side_asks_for_counts_within_bounds() -> None:
    work = Failing(Away(30), Away(0), Away(9999), Away())
    assert await Retry(first_s=1, max_s=60, sleep=work.sleep)(work, after) == "done"
    assert work.pauses == [30, 1, 60, 8]


async def test_each_wait_is_told_before_it_and_the_last_failure_is_not() -> None:
    told: list[tuple[float | None, float]] = []

    def tell(failure: Exception, wait_s: float) -> None:
        assert isinstance(failure, Away)
        assert len(work.pauses) == len(told)
        told.append((failure.after, wait_s))

    work = Failing(Away(30), Away(), Away(600))
    with pytest.raises(Away):
        await Retry(retries=2, max_s=20, sleep=work.sleep, told=tell)(work, after)
    assert told == [(30, 20), (None, 2)]


async def test_the_last_failure_is_raised() -> None:
    work = Failing(*(Away(number) for number in range(9)))
    with pytest.raises(Away) as raised:
        await Retry(retries=2, sleep=work.sleep)(work, after)
    assert raised.value.after == 2
    assert len(work.pauses) == 2


async def test_what_is_of_no_use_is_not_tried_again() -> None:
    work = Failing(KeyError("gone"), Away())
    with pytest.raises(KeyError):
        await Retry(sleep=work.sleep)(work, after)
    assert work.pauses == []


async def test_an_attempt_has_its_time() -> None:
    work = Failing()

    async def never() -> str:
        if not work.pauses:
            await asyncio.Event().wait()
        return await work()

    def again(error: Exception) -> float | None:
        assert isinstance(error, TimeoutError)
        return None

    assert await Retry(timeout_s=0.01, sleep=work.sleep)(never, again) == "done"
    assert work.pauses == [1.0]


@given(st.floats(0.01, 100), st.floats(0.01, 10_000), st.integers(1, 60))
def test_pauses_grow_up_to_the_longest(first: float, most: float, count: int) -> None:
    pauses = list(islice(backoff(first, most), count))
    assert pauses == sorted(pauses)
    assert pauses[0] == min(first, most)
    assert all(pause <= most for pause in pauses)
    assert all(b == min(a * 2, most) for a, b in pairwise(pauses))
