"""The part of a passage that a result shows."""

from __future__ import annotations

import re

from gateway.toolkit.words import terms

MAX_CHARACTERS = 500
"""The most characters of a further passage in a result; the best passage is shown whole."""
_READ_CHARACTERS = 5_000
"""Of a longer text, which is a whole document, the beginning is looked at."""

_SENTENCE = re.compile(r"[^.!?\u3002\uff01\uff1f\n]+(?:[.!?\u3002\uff01\uff1f]+|\n|$)\s*")


def excerpt(text: str, question: str) -> str:
    """At most 500 characters of a passage: whole sentences, those nearest to the question.

    Args:
        text: the passage.
        question: what was asked.
    """
    if len(text) <= MAX_CHARACTERS:
        return text.strip()
    asked = set(terms(question))
    sentences = [match[0] for match in _SENTENCE.finditer(text[:_READ_CHARACTERS])]
    weights = [len(asked.intersection(terms(sentence))) for sentence in sentences]
    start, end = _window(sentences, weights)
    shown = "".join(sentences[start:end]).strip()
    if len(shown) > MAX_CHARACTERS:
        shown = shown[: MAX_CHARACTERS - 3].rsplit(" ", 1)[0] + "..."
    return shown


def _window(sentences: list[str], weights: list[int]) -> tuple[int, int]:
    """The run of sentences within the limit that has the most weight, the earliest such."""
    best, best_weight = (0, 1), -1
    for start in range(len(sentences)):
        end, size, weight = start, 0, 0
        while end < len(sentences) and (
            end == start or size + len(sentences[end]) <= MAX_CHARACTERS
        ):
            size += len(sentences[end])
            weight += weights[end]
            end += 1
        if weight > best_weight:
            best, best_weight = (start, end), weight
    return best
