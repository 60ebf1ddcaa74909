"""GitHub is asked again where that may help, as often as the specification says."""

from __future__ import annotations

import asyncio

import pytest

from gateway.repositories import Retry, SourceFailed


class Waits(list[float]):
    """The seconds that were waited, though nobody waits them."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def waits() -> Waits:
    return Waits()


class Answers:
    """Fails as it is told, one failure after the other, and then answers."""

    def __init__(self, *failures: SourceFailed) -> None:
        self.failures = list(failures)

    async def __call__(self) -> str:
        if self.failures:
            raise self.failures.pop(0)
        return "well"


def away(retry_after: int | None = None) -> SourceFailed:
    return SourceFailed("UPSTREAM_ERROR", "Away.", retry_after=retry_after, transient=True)


async def test_ten_retries_each_wait_twice_as_long_as_the_one_before(waits: Waits) -> None:
    assert await Retry(sleep=waits).ask(Answers(*(away() for _ in range(10)))) == "well"
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]


async def test_three_seconds_away_cost_three_seconds(waits: Waits) -> None:
    await Retry(sleep=waits).ask(Answers(away(), away()))
    assert sum(waits) == 3


async def test_after_the_last_retry_the_failure_is_told(waits: Waits) -> None:
    with pytest.raises(SourceFailed, match="Away"):
        await Retry(sleep=waits).ask(Answers(*(away() for _ in range(11))))
    assert len(waits) == 10


async def test_what_retry_after_says_counts_up_to_an_hour(waits: Waits) -> None:
    await Retry(sleep=waits).ask(Answers(away(45), away(2), away(10**6), away(0), away()))
    assert waits == [45, 2, 3600, 1, 16]


async def test_what_is_not_there_is_not_asked_for_again(waits: Waits) -> None:
    with pytest.raises(SourceFailed, match="Gone"):
        await Retry(sleep=waits).ask(Answers(SourceFailed("NOT_FOUND", "Gone.", status=404)))
    assert waits == []


async def test_an_attempt_that_takes_too_long_is_given_up(waits: Waits) -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    with pytest.raises(SourceFailed, match=r"did not answer within 0\.01 seconds") as failed:
        await Retry(retries=1, timeout_s=0.01, sleep=waits).ask(never)
    assert failed.value.transient
    assert waits == [1]
