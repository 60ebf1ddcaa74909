"""How ratings and use move a search's results: a little, and within bounds that no crowd passes.

A weight multiplies how well a workflow fits. It is 1 where nobody has rated or finished it, so that
a portal without ratings ranks as before; it grows with the mean of the stars as if a few people had
given three, and with the number of people who finished it, ever more slowly. Only what fits about
equally well changes places: of two workflows the one comes first whose fit is better by more than
``HIGHEST / LOWEST``, whatever people say of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plugins.workflows.store.ratings import Standing

RATINGS_WEIGHT = 0.05
"""How much the best, or the worst, ratings move a score."""
USE_WEIGHT = 0.03
"""How much very much use lifts a score."""
LOWEST, HIGHEST = 1 - RATINGS_WEIGHT, 1 + RATINGS_WEIGHT + USE_WEIGHT
"""The bounds of a weight."""
_MIDDLE_STARS, _STARS_BESIDE_MIDDLE = 3, 2
_EQUAL_VOICES = 5
"""People who are taken to have given three stars, or not to have finished it."""
_NAMED = 1.0
"""The score of an item whose name is what was asked for: nothing comes before it."""


def weight(standing: Standing) -> float:
    """What a score is multiplied by, from ``LOWEST`` to ``HIGHEST``."""
    beyond = standing.stars - _MIDDLE_STARS * standing.ratings
    liked = beyond / (_STARS_BESIDE_MIDDLE * (standing.ratings + _EQUAL_VOICES))
    used = standing.finished / (standing.finished + _EQUAL_VOICES)
    return 1 + RATINGS_WEIGHT * liked + USE_WEIGHT * used


def reordered(
    found: Sequence[tuple[str, float]], standings: Mapping[str, Standing]
) -> list[tuple[str, float]]:
    """Items by how well they fit and how they stand, each with its score as it was.

    Args:
        found: ids and scores, best first.
        standings: those that there are.
    """

    def place(item: tuple[str, float]) -> tuple[bool, float]:
        id, score = item
        standing = standings.get(id)
        return score < _NAMED, -score * (1.0 if standing is None else weight(standing))

    return sorted(found, key=place)
