"""Long work leaves turns to others."""

import asyncio
from collections.abc import Iterator

import pytest

from gateway.toolkit import time_slices


async def test_others_have_turns_between_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_slices, "TURN_SECONDS", 0.0)
    seen: list[int] = []

    def steps() -> Iterator[int]:
        for number in range(5):
            seen.append(number)
            yield number

    async def other() -> int:
        return len(seen)

    working = asyncio.create_task(time_slices.in_turns(steps()))
    meanwhile = [await asyncio.create_task(other()) for _ in range(3)]
    assert meanwhile[0] < meanwhile[1] < 5
    assert await working == [0, 1, 2, 3, 4]
