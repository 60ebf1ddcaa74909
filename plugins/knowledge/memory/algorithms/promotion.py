"""When an entry moves to a more lasting layer, and when to the archive (README, "Promotion")."""

from __future__ import annotations

import math
from dataclasses import dataclass

from plugins.knowledge.memory.model.entry import Layer

DEFAULT_VALUE = 0.5
"""What an importance or a confidence that nobody stated counts."""
W_IMPORTANCE, W_CONFIDENCE, W_USE, W_AGE = 0.35, 0.25, 0.3, 0.1
"""The weights of :func:`score`; they add up to 1."""
HALF_USES = 3.0
"""Uses after which use counts half."""
HALF_AGE_DAYS = {Layer.WORKING: 1 / 24, Layer.SESSION: 1.0, Layer.EPISODIC: 7.0}
"""Days in a layer after which age counts half."""
NEXT_LAYER = {
    Layer.WORKING: Layer.SESSION,
    Layer.SESSION: Layer.EPISODIC,
    Layer.EPISODIC: Layer.SEMANTIC,
}
"""The ladder. An entry in any other layer was put there on purpose, and stays."""
THRESHOLD = 0.6
"""The score from which an entry moves to the next layer."""
IDLE_DAYS = 90.0
"""Days without use before which nothing moves to the archive."""
MIN_KEPT_WORTH = 0.4
"""The worth from which an entry never moves to the archive, however long it is unused."""
ARCHIVABLE_LAYERS = frozenset({Layer.EPISODIC, Layer.SEMANTIC})
"""The layers from which entries move to the archive."""


@dataclass(frozen=True, slots=True)
class LayerFacts:
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


def score(entry: LayerFacts) -> float:
    """How much an entry deserves a more lasting layer, 0 to 1.

    The weighed sum of importance, confidence, use and age, where use and age approach 1 as they
    grow. More of any of them never makes it smaller.
    """
    used = 1.0 - math.exp2(-entry.uses / HALF_USES)
    half = HALF_AGE_DAYS.get(entry.layer, HALF_AGE_DAYS[Layer.EPISODIC])
    lasted = 1.0 - math.exp2(-max(0.0, entry.age) / half)
    return (
        W_IMPORTANCE * _stated(entry.importance)
        + W_CONFIDENCE * _stated(entry.confidence)
        + W_USE * used
        + W_AGE * lasted
    )


def destination(entry: LayerFacts) -> Layer:
    """The layer an entry belongs in now: the next one up, the archive, or the one it is in."""
    if (
        entry.layer in ARCHIVABLE_LAYERS
        and entry.idle >= IDLE_DAYS
        and worth(entry) < MIN_KEPT_WORTH
    ):
        return Layer.ARCHIVAL
    if entry.layer in NEXT_LAYER and score(entry) >= THRESHOLD:
        return NEXT_LAYER[entry.layer]
    return entry.layer


def worth(entry: LayerFacts) -> float:
    """What an entry is worth without anyone using it, 0 to 1."""
    total = W_IMPORTANCE + W_CONFIDENCE
    stated = W_IMPORTANCE * _stated(entry.importance) + W_CONFIDENCE * _stated(entry.confidence)
    return stated / total


def _stated(value: float | None) -> float:
    return DEFAULT_VALUE if value is None else value
