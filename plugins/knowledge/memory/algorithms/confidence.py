"""How certain a statement is that several entries make (README, "Confidence")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

DEFAULT_CONFIDENCE = 0.5
"""The confidence of a statement that names none."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What one entry states.

    Attributes:
        origin: the source and author it goes back to: two statements of one origin confirm
            each other no more than one person who says a thing twice.
        confidence: 0 to 1, or None where nobody stated it.
    """

    origin: str
    confidence: float | None = None


def aggregate(statements: Iterable[Statement]) -> float:
    """How sure the statement is, 0 to 1: that not all of its origins are wrong at once.

    Of each origin the surest statement counts; of independent origins the doubts are multiplied
    (noisy or). It is never less than the surest statement, does not depend on their order, and
    one more statement never makes it smaller. Without any statement it is 0.
    """
    surest: dict[str, float] = {}
    for each in statements:
        stated = DEFAULT_CONFIDENCE if each.confidence is None else each.confidence
        surest[each.origin] = max(stated, surest.get(each.origin, 0.0))
    if len(surest) < 2:
        return max(surest.values(), default=0.0)
    # Multiplying doubts in one fixed order gives the same bits whatever order they came in.
    doubt = prod(sorted(1.0 - sure for sure in surest.values()))
    return max(1.0 - doubt, *surest.values())
