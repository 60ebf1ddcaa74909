"""How far two purposes are apart."""

from __future__ import annotations

import math
from collections import Counter

from plugins.codegraph.store.name_split import split

MEANING_DISTANCE = 0.3
"""The cosine distance of two purposes beyond which the meaning changed (kap10, phase 5)."""


def word_distance(one: str, other: str) -> float:
    """The cosine distance of two texts by their words: 0 for the same, 1 for nothing in common."""
    if one == other:
        return 0.0
    first, second = Counter(split(one)), Counter(split(other))
    if not first or not second:
        return 1.0
    shared = sum(count * second[word] for word, count in first.items())
    lengths = math.prod(
        math.sqrt(sum(count**2 for count in each.values())) for each in (first, second)
    )
    return 1 - shared / lengths
