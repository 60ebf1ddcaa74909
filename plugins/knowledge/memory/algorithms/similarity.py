"""How alike two vectors are, and how far apart, by the three metrics of the protocol.

Stored vectors and those of questions have length one, so that all three follow from the cosine;
they differ in scale alone, and put results in the same order.
"""

from __future__ import annotations

import math

from plugins.knowledge.memory.model.requests import Metric


def distance(cosine: float, metric: Metric) -> float:
    """How far apart two vectors of length one are; 0 where they are the same.

    Args:
        cosine: of the angle between them, -1 to 1; what rounding puts beyond is taken back.
        metric: ``cosine`` is 1 - cos (0 to 2), ``euclidean`` the distance of their ends (0 to 2),
            ``dot`` 1 - their inner product, which is the cosine here (0 to 2).
    """
    bounded = max(-1.0, min(1.0, cosine))
    if metric is Metric.EUCLIDEAN:
        return math.sqrt(2.0 - 2.0 * bounded)
    return 1.0 - bounded


def score(cosine: float) -> float:
    """Similarity as a score, 0 to 1: what points away is as little alike as what is unrelated."""
    return max(0.0, min(1.0, cosine))
