"""How well a document answers: the one place where the signals of a search are weighed.

Dense similarity finds what is meant, keywords find what is said; neither is good at the other's
questions, and fusing their ranks makes paraphrases worse. So similarity leads, and keywords
count by the cube of how much they prove: a few common words next to nothing, several rare
ones a lot. A passage that holds the question's very words, and a document whose name it is,
come first. The weights were tuned on ``benchmarks/data/civic_questions.json``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from gateway.contract import Hit
from gateway.toolkit.words import words

W_HEAD = 0.7
W_TERMS = 0.6
W_VERBATIM = 0.8
W_NAMED = 2.0
PERFECT = 1.0 + W_HEAD
"""The score of a document whose passage and head are the question itself, by similarity."""

_FULL_BM25 = 4.0
_MAX_PHRASE_HITS = 10
_MIN_PHRASE_WORDS = 3


@dataclass(frozen=True, slots=True)
class Hits:
    """What the store found for one question, each best first.

    Attributes:
        passages: by similarity of passages; empty without a model.
        heads: by similarity of heads; empty without a model.
        terms: by BM25.
        named: keys of documents whose name the question is.
    """

    passages: list[Hit]
    heads: list[Hit]
    terms: list[Hit]
    named: frozenset[str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that may answer.

    Attributes:
        key: the document's ``contentType/id``.
        score: the weighed sum of all signals.
        terms: its BM25 score, which decides between equals.
        passage: the text of its best passage, or an empty text.
    """

    key: str
    score: float
    terms: float
    passage: str


def rank(question: str, hits: Hits, documents: int) -> list[Candidate]:
    """Weigh the signals of every document that any of them found.

    Args:
        question: the question.
        hits: what the store found.
        documents: how many documents there are; the more, the higher BM25 scores run.

    Returns:
        The documents, best first.
    """
    by_passage, by_head = _best_scores(hits.passages), _best_scores(hits.heads)
    by_terms = _best_scores(hits.terms)
    convincing = _FULL_BM25 * math.log(2 + documents)
    verbatim = _verbatim(question, hits.terms)
    shown = _best_passages(hits)
    ranked = [
        Candidate(
            key,
            by_passage.get(key, _least(hits.passages))
            + W_HEAD * by_head.get(key, _least(hits.heads))
            + W_TERMS * min(1.0, by_terms.get(key, 0.0) / convincing) ** 3
            + W_VERBATIM * (key in verbatim)
            + W_NAMED * (key in hits.named),
            by_terms.get(key, 0.0),
            shown.get(key, ""),
        )
        for key in hits.named.union(by_passage, by_head, by_terms)
    ]
    return sorted(ranked, key=lambda one: (-one.score, -one.terms, one.key))


def _best_scores(hits: Iterable[Hit]) -> dict[str, float]:
    """The score of each document's best hit."""
    best: dict[str, float] = {}
    for hit in hits:
        best.setdefault(hit.payload["key"], hit.score)
    return best


def _least(hits: list[Hit]) -> float:
    """What a document that is not among the hits has at most."""
    return hits[-1].score if hits else 0.0


def _verbatim(question: str, hits: list[Hit]) -> set[str]:
    """The documents with a passage that holds the question word for word."""
    asked = words(question)
    if len(asked) < _MIN_PHRASE_WORDS:
        return set()
    return {hit.payload["key"] for hit in hits[:_MAX_PHRASE_HITS] if _holds(hit, asked)}


def _holds(hit: Hit, asked: list[str]) -> bool:
    text = hit.payload["text"]
    lower = text.lower()
    if not all(word in lower for word in asked):  # cheap, and nearly always the answer
        return False
    return f" {' '.join(asked)} " in f" {' '.join(words(text))} "


def _best_passages(hits: Hits) -> dict[str, str]:
    """For each document, the passage to show: nearest in meaning, else by its terms."""
    best: dict[str, str] = {}
    for hit in (*hits.passages, *hits.terms):
        if hit.payload["text"]:
            best.setdefault(hit.payload["key"], hit.payload["text"])
    return best
