"""What Stripe has of something is looked up and written down, and an older look never wins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

MOST_TURNS = 20
"""How often a look is repeated because another process was quicker."""


class Moved(Exception):
    """Another process has written since this one began to look."""


async def in_turn(attempt: Callable[[], Awaitable[T]]) -> T:
    """Look and write until nobody else has written in between.

    Each attempt reads the row's turn first, asks Stripe then, and writes only where the turn is
    still the same. So what is written was asked for after everything that had been written before,
    in whichever order events arrive.

    Args:
        attempt: one look; raises :class:`Moved`.

    Raises:
        Moved: others were quicker each time; the event is sent again.
    """
    for _ in range(MOST_TURNS):
        try:
            return await attempt()
        except Moved:
            continue
    raise Moved
