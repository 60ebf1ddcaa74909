"""What is kept in memory is made once, stays within its bounds, and never holds an error."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.workflows.plans.plan import build
from plugins.workflows.plans.plan_cache import PlanCache
from plugins.workflows.plans.plans import plan_size_bytes
from tests.plugins.workflows.plans.workflows import prompt, stage, workflow


class Maker:
    """Makes values, and counts how often it did."""

    def __init__(self) -> None:
        self.made: list[int] = []
        self.may_finish = asyncio.Event()

    def of(self, value: int) -> Callable[[], Awaitable[int]]:
        async def make() -> int:
            self.made.append(value)
            await self.may_finish.wait()
            if value < 0:
                raise LookupError(str(value))
            return value

        return make


def key(value: int) -> tuple[str, int]:
    return "w", value


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 5), st.integers(1, 25))
async def test_the_values_asked_for_last_are_kept_within_both_bounds(
    asked: list[int], most: int, most_bytes: int
) -> None:
    kept: PlanCache[int] = PlanCache(most, most_bytes, lambda value: value)
    maker = Maker()
    maker.may_finish.set()
    model: list[int] = []  # the one asked for last at the end
    for value in asked:
        count = len(maker.made)
        assert await kept.get(key(value), maker.of(value)) == value
        assert (len(maker.made) == count) == (value in model)
        model = [each for each in model if each != value] + [value]
        while len(model) > most or sum(model) > most_bytes:
            model.pop(0)
        assert (len(kept), kept.bytes) == (len(model), sum(model))


async def test_those_who_ask_at_the_same_moment_wait_for_one_making() -> None:
    kept: PlanCache[int] = PlanCache(9, 9, lambda value: 1)
    maker = Maker()
    asking = [asyncio.create_task(kept.get(key(1), maker.of(1))) for _ in range(20)]
    await asyncio.sleep(0)
    maker.may_finish.set()
    assert await asyncio.gather(*asking) == [1] * 20
    assert maker.made == [1]


async def test_whoever_asked_first_may_give_up_while_others_wait() -> None:
    kept: PlanCache[int] = PlanCache(9, 9, lambda value: 1)
    maker = Maker()
    first = asyncio.create_task(kept.get(key(1), maker.of(1)))
    second = asyncio.create_task(kept.get(key(1), maker.of(1)))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    maker.may_finish.set()
    assert await second == 1
    assert maker.made == [1]


async def test_an_error_reaches_all_who_wait_and_is_not_kept() -> None:
    kept: PlanCache[int] = PlanCache(9, 9, lambda value: 1)
    maker = Maker()
    maker.may_finish.set()
    failed = await asyncio.gather(
        *(kept.get(key(-1), maker.of(-1)) for _ in range(3)), return_exceptions=True
    )
    assert [type(each) for each in failed] == [LookupError] * 3
    assert maker.made == [-1]
    with pytest.raises(LookupError):
        await kept.get(key(-1), maker.of(-1))
    assert maker.made == [-1, -1]
    assert len(kept) == 0


def test_a_plan_takes_at_least_its_texts() -> None:
    small = build(workflow(stage(prompt("a"))), {})
    large = build(workflow(stage(prompt("a"), prompt("b" * 50_000))), {})
    assert plan_size_bytes(large) - plan_size_bytes(small) > 50_000
