"""When an entry moves to a more lasting layer, and when it is put away (README, "Promotion")."""

from __future__ import annotations

import math
from dataclasses import dataclass

from plugins.knowledge.memory.entries import Layer

UNSAID = 0.5
"""What an importance or a confidence that nobody stated counts."""
W_IMPORTANCE, W_CONFIDENCE, W_USE, W_AGE = 0.35, 0.25, 0.3, 0.1
USES = 3.0
"""Uses after which use counts half."""
HALF_AGES = {Layer.WORKING: 1 / 24, Layer.SESSION: 1.0, Layer.EPISODIC: 7.0}
"""Days in a layer after which age counts half."""
NEXT = {
    Layer.WORKING: Layer.SESSION,
    Layer.SESSION: Layer.EPISODIC,
    Layer.EPISODIC: Layer.SEMANTIC,
}
"""The ladder. What is in none of these layers was put where it is on purpose, and stays."""
THRESHOLD = 0.6
IDLE_DAYS = 90.0
"""Days without use before which nothing is put away."""
KEPT = 0.4
"""The worth from which on an entry is not put away, however long nobody asks for it."""
ARCHIVED = frozenset({Layer.EPISODIC, Layer.SEMANTIC})
"""Where entries are put away from."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What decides an entry's layer.

    Attributes:
        layer: where it is.
        importance: 0 to 1, or None where nobody stated it.
        confidence: likewise.
        uses: how often it was an answer, or was read.
        age: days since it came to its layer.
        idle: days since it was last used, or written.
    """

    layer: Layer
    importance: float | None = None
    confidence: float | None = None
    uses: int = 0
    age: float = 0.0
    idle: float = 0.0


def score(entry: Standing) -> float:
    """How much an entry deserves a more lasting layer, 0 to 1.

    The weighed sum of importance, confidence, use and age, where use and age approach 1 as they
    grow. More of any of them never makes it smaller.
    """
    used = 1.0 - math.exp2(-entry.uses / USES)
    half = HALF_AGES.get(entry.layer, HALF_AGES[Layer.EPISODIC])
    lasted = 1.0 - math.exp2(-max(0.0, entry.age) / half)
    return (
        W_IMPORTANCE * _stated(entry.importance)
        + W_CONFIDENCE * _stated(entry.confidence)
        + W_USE * used
        + W_AGE * lasted
    )


def destination(entry: Standing) -> Layer:
    """The layer an entry belongs in now: the next one up, the archive, or the one it is in."""
    if entry.layer in ARCHIVED and entry.idle >= IDLE_DAYS and worth(entry) < KEPT:
        return Layer.ARCHIVAL
    if entry.layer in NEXT and score(entry) >= THRESHOLD:
        return NEXT[entry.layer]
    return entry.layer


def worth(entry: Standing) -> float:
    """What an entry is worth without anyone using it, 0 to 1."""
    total = W_IMPORTANCE + W_CONFIDENCE
    stated = W_IMPORTANCE * _stated(entry.importance) + W_CONFIDENCE * _stated(entry.confidence)
    return stated / total


def _stated(value: float | None) -> float:
    return UNSAID if value is None else value
