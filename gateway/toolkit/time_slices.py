"""Long work on the event loop in short turns, between which everybody else is served."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import perf_counter
from typing import TypeVar

TURN_SECONDS = 0.001
"""Seconds of work after which others have a turn."""

T = TypeVar("T")


async def in_turns(steps: Iterator[T]) -> list[T]:
    """What an iterator gives, while others have their turns between its steps.

    Args:
        steps: each step is short by itself: a millisecond at most.
    """
    found: list[T] = []
    until = perf_counter() + TURN_SECONDS
    for step in steps:
        found.append(step)
        if perf_counter() >= until:
            await asyncio.sleep(0)
            until = perf_counter() + TURN_SECONDS
    return found
