"""How well an entity answers a question: the one place where the signals are weighted.

Similarity dominates, since a question rarely uses the code's own words; word matches are added with
a small weight, and so is the length of the code, since a line that only delegates is rarely what
was asked for. Measured on ``benchmarks/data/code_questions.json`` (nDCG@10): words 0.35, similarity
0.55, reciprocal rank fusion of the two 0.51, similarity with words 0.57, with words and length
0.61. An entity whose name consists of words of the question comes first.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from plugins.codegraph.model import Entity
from plugins.codegraph.store.name_split import split

W_WORDS = 0.05
W_LENGTH = 0.15
W_NAMED = 1.0
W_TEST = 0.05
"""The penalty of a test, unless tests are asked for: it repeats the words of what it tests."""
_ALONE = 6.0
"""The factor on that penalty when there are only word scores."""
_OF_TEST = 0.8
"""The factor on a test's score in a search by words, unless tests are asked for."""
_LINES = 64
"""The number of lines beyond which length adds nothing."""
_STOP_WORDS = frozenset(
    """
    a an and any are as at be been by can could did do does for from had has have he her his how i
    if in into is it its many may must my no not of off on only onto or our out over should so than
    that the their them then there these they this those through to under up us was we were what
    when where which who whom why will with would you your
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """An entity and its score."""

    entity: Entity
    score: float


def content_words(question: str) -> str:
    """The words of a question without stop words; all of them if nothing else is left."""
    words = question.split()
    kept = [word for word in words if word.lower().strip("?.,!;:'\"") not in _STOP_WORDS]
    return " ".join(kept or words)


def rank(
    question: str,
    entities: Collection[Entity],
    similar: Mapping[int, float],
    words: Mapping[int, float],
) -> list[Ranked]:
    """Score all candidates.

    Args:
        question: the question.
        entities: the candidates.
        similar: similarity by key; empty if there is no model.
        words: full-text score by key.

    Returns:
        The candidates, best first.
    """
    least = min(similar.values(), default=0.0)
    most = max(words.values(), default=0.0) or 1.0
    weight, test = (W_WORDS, W_TEST) if similar else (1.0, W_TEST * _ALONE)
    asked = split(question)
    about_tests = _about_tests(asked)
    ranked = [
        Ranked(
            each,
            similar.get(each.key, least)
            + weight * words.get(each.key, 0.0) / most
            + W_LENGTH * _length(each)
            + W_NAMED * (split(each.name) == asked)
            - test * (each.test and not about_tests),
        )
        for each in entities
    ]
    return sorted(ranked, key=lambda one: (-one.score, one.entity.path, one.entity.line))


def by_words(question: str, found: Sequence[tuple[Entity, float]]) -> list[Ranked]:
    """Full-text results, best first; a test ranks below other matches.

    Args:
        question: the question.
        found: entities with their scores.
    """
    share = 1.0 if _about_tests(split(question)) else _OF_TEST
    ranked = [Ranked(each, score * share if each.test else score) for each, score in found]
    return sorted(ranked, key=lambda one: -one.score)


def _about_tests(asked: Collection[str]) -> bool:
    return not {"test", "tests", "tested", "testing"}.isdisjoint(asked)


def _length(entity: Entity) -> float:
    """The code length as a score from 0 to 1."""
    lines = min(max(entity.end_line - entity.line + 1, 1), _LINES)
    return math.log2(lines) / math.log2(_LINES)
