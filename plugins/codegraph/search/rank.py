"""How well an entity answers a question: the one place where the signals are weighed.

Similarity leads, since a question is seldom made of the code's own words; what its words prove is
added at a small weight, and beside it how much code there is, since the line that only hands
something on is seldom what was asked for. Measured on ``benchmarks/data/code_questions.json``
(nDCG@10): words 0.35, similarity 0.55, reciprocal rank fusion of the two 0.51, similarity with
words 0.57, with words and length 0.61. What is called by the question's very words comes first.
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
"""What a test loses, unless tests are asked about: it is full of the words of what it tests."""
_ALONE = 6.0
"""How much more a test loses where there are words alone."""
_OF_TEST = 0.8
"""What a test's score counts where words alone are asked for, unless they ask for tests."""
_LINES = 64
"""Lines from which on more of them prove nothing."""
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
    """An entity and how well it answers."""

    entity: Entity
    score: float


def content_words(question: str) -> str:
    """The words of a question that tell something; all of them where none does."""
    words = question.split()
    kept = [word for word in words if word.lower().strip("?.,!;:'\"") not in _STOP_WORDS]
    return " ".join(kept or words)


def rank(
    question: str,
    entities: Collection[Entity],
    similar: Mapping[int, float],
    words: Mapping[int, float],
) -> list[Ranked]:
    """Weigh the signals of all candidates.

    Args:
        question: what was asked.
        entities: the candidates.
        similar: similarity by key; empty where there is no model.
        words: the score of full text by key.

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
    """What full text found, best first; a test comes after others that have the words as well.

    Args:
        question: what was asked.
        found: entities with their scores.
    """
    share = 1.0 if _about_tests(split(question)) else _OF_TEST
    ranked = [Ranked(each, score * share if each.test else score) for each, score in found]
    return sorted(ranked, key=lambda one: -one.score)


def _about_tests(asked: Collection[str]) -> bool:
    return not {"test", "tests", "tested", "testing"}.isdisjoint(asked)


def _length(entity: Entity) -> float:
    """How much code it is, 0 to 1."""
    lines = min(max(entity.end_line - entity.line + 1, 1), _LINES)
    return math.log2(lines) / math.log2(_LINES)
