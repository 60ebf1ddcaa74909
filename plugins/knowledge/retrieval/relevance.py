"""How well a document answers: the one place where the signals of a search are weighed.

Dense similarity finds what is meant, keywords find what is said; neither is good at the other's
questions, and fusing their ranks makes paraphrases worse. So similarity leads, and keywords
count by the cube of how much they prove: a few common words next to nothing, several rare
ones a lot. A passage that holds the question's very words, and a document whose name it is,
come first.

Five signals are added: the cosines of a document's best passage, of its second best and of its
head, and what BM25 proves of its best passage and of the whole document. Their weights were
rounded from the middle of a plateau of nDCG@5 over 287 questions of three bases. A logistic
regression over the same pairs showed which signals help; its own weights were mostly worse on a
base that it had not seen. Decision 0044 has both, and what else was tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from gateway.contract import Hit
from gateway.toolkit.languages import DEFAULT
from gateway.toolkit.words import terms, unmarked, words

W_SECOND = 0.3
"""The weight of the cosine of a document's second best passage; that of its best has 1."""
W_HEAD = 0.75
"""The weight of the cosine of its head: title, description, aliases, tags and first lines."""
W_TERMS = 0.35
"""The weight of what BM25 proves of its best passage or head."""
W_WHOLE = 0.5
"""The weight of what BM25 proves of the whole document."""
W_VERBATIM = 0.8
"""What a passage that holds the question word for word adds."""
W_NAMED = 2.0
"""What a name that is the question adds."""
W_TAGGED = 1.0
"""What a tag that is the question gives the documents that have it, together."""
W_NUMBERED = 1.0
"""What a number or a day in the question gives the documents that go by it, together."""
PERFECT = 1.0 + W_SECOND + W_HEAD
"""The score of a document whose passages and head are the question itself, by similarity."""

_FULL_BM25 = 4.0
"""The BM25 score at which a passage convinces, over the logarithm of the number of documents."""
_FULL_WHOLE = 5.0
"""The same of a whole document."""
_MAX_PHRASE_HITS = 10
"""The best hits by words in which the question is looked for word for word."""
_MIN_PHRASE_WORDS = 3
"""Words from which on a question in the Latin script is a phrase."""
_MAX_HOLDING = 3
"""Documents that hold a question of fewer words; where more do, it is no rare one."""
_LAST_LATIN = "\u024f"
"""The last letter of Unicode's blocks of Latin up to Extended-B."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What the store found for one question, each best first.

    Attributes:
        passages: by similarity of passages; empty without a model.
        heads: by similarity of heads; empty without a model.
        terms: by BM25 of passages and heads.
        whole: by BM25 of whole documents.
        named: keys of documents whose name the question is.
        tagged: keys of documents of which the question is a tag.
        numbered: keys of documents that go by a number or a day in the question.
        coded: what documents gain by names out of code that the question has, by their keys.
        is_complete: whether passages and heads that are not among these are nowhere, and count
            nothing; else they are taken to be as near as the last that is.
    """

    passages: list[Hit]
    heads: list[Hit]
    terms: list[Hit]
    whole: list[Hit]
    named: frozenset[str]
    tagged: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    coded: Mapping[str, float] = field(default_factory=dict)
    is_complete: bool = False

    def measured(self, near: Iterable[Hit]) -> Hits:
        """These hits with other similarities.

        Args:
            near: heads and passages by similarity, best first; the head's ordinal is 0.
        """
        passages: list[Hit] = []
        heads: list[Hit] = []
        for hit in near:
            (passages if hit.payload["ordinal"] else heads).append(hit)
        return replace(self, passages=passages, heads=heads)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that may answer.

    Attributes:
        key: the document's ``contentType/id``.
        score: the weighed sum of all signals.
        terms: its BM25 score, which decides between equals.
    """

    key: str
    score: float
    terms: float


def rank(question: str, hits: Hits, documents: int) -> list[Candidate]:
    """Weigh the signals of every document that any of them found.

    Args:
        question: the question.
        hits: what the store found.
        documents: how many documents there are; the more, the higher BM25 scores run.

    Returns:
        The documents, best first.
    """
    by_passage, second = _two_best_scores(hits.passages)
    by_head, by_terms = _best_scores(hits.heads), _best_scores(hits.terms)
    by_whole = _best_scores(hits.whole)
    convincing = math.log(2 + documents)
    verbatim = _verbatim(question, hits.terms)
    least = _least(hits, hits.passages)
    tagged = W_TAGGED / max(1, len(hits.tagged))
    numbered = W_NUMBERED / max(1, len(hits.numbered))
    ranked = [
        Candidate(
            key,
            by_passage.get(key, least)
            + W_SECOND * second.get(key, least)
            + W_HEAD * by_head.get(key, _least(hits, hits.heads))
            + W_TERMS * _proof(by_terms.get(key, 0.0), _FULL_BM25 * convincing)
            + W_WHOLE * _proof(by_whole.get(key, 0.0), _FULL_WHOLE * convincing)
            + W_VERBATIM * (key in verbatim)
            + W_NAMED * (key in hits.named)
            + tagged * (key in hits.tagged)
            + numbered * (key in hits.numbered)
            + hits.coded.get(key, 0.0),
            by_terms.get(key, 0.0),
        )
        for key in hits.named.union(
            hits.tagged, hits.numbered, hits.coded, by_passage, by_head, by_terms, by_whole
        )
    ]
    return sorted(ranked, key=lambda one: (-one.score, -one.terms, one.key))


def _proof(bm25: float, convincing: float) -> float:
    """How much a BM25 score proves: 1 where it convinces, and beyond that it rises as it did there.

    Were more than enough no better than enough, a document with every word would be level with
    the one that answers.
    """
    share = bm25 / convincing
    return share**3 if share < 1 else 3 * share - 2


def _two_best_scores(hits: Iterable[Hit]) -> tuple[dict[str, float], dict[str, float]]:
    """The scores of each document's best hit and of its second best."""
    best: dict[str, float] = {}
    second: dict[str, float] = {}
    for hit in hits:
        (second if hit.payload["key"] in best else best).setdefault(hit.payload["key"], hit.score)
    return best, second


def _best_scores(hits: Iterable[Hit]) -> dict[str, float]:
    """The score of each document's best hit."""
    best: dict[str, float] = {}
    for hit in hits:
        best.setdefault(hit.payload["key"], hit.score)
    return best


def _least(hits: Hits, of: list[Hit]) -> float:
    """What a document that is not among the hits has at most; what is nowhere has nothing."""
    return of[-1].score if of and not hits.is_complete else 0.0


def _verbatim(question: str, hits: list[Hit]) -> set[str]:
    """The documents with a passage that holds the question word for word, or as a heading.

    One word or two tell something where few documents have them: a rare name, a number.

    In other scripts than the Latin one a single word does: most models read these poorly, and a
    question there is a word or two.

    Where none holds one word or two as they are asked, other forms of them count as much.
    """
    asked = words(question)
    is_latin = any(each.isalpha() and each <= _LAST_LATIN for each in question)
    likely = hits[:_MAX_PHRASE_HITS]
    found = {hit.payload["key"] for hit in likely if _holds(hit, asked)}
    if not found and len(asked) < _MIN_PHRASE_WORDS:
        found = {hit.payload["key"] for hit in likely if _holds_forms(hit, question)}
        return found if len(found) <= _MAX_HOLDING else set()
    is_phrase = len(asked) >= (_MIN_PHRASE_WORDS if is_latin else 1)
    return found if is_phrase or len(found) <= _MAX_HOLDING else set()


def _holds(hit: Hit, asked: list[str]) -> bool:
    text = text_of(hit)
    looked = unmarked(text)
    if not all(unmarked(word) in looked for word in asked):  # quick, and nearly always the answer
        return False
    return f" {' '.join(asked)} " in f" {' '.join(words(text))} "


def _holds_forms(hit: Hit, question: str) -> bool:
    """Whether a passage holds the words of a question in any form that its language has."""
    language = hit.payload.get("language") or DEFAULT
    asked = _stems(question, language)
    return bool(asked.strip()) and asked in _stems(text_of(hit), language)


def text_of(hit: Hit) -> str:
    """What a passage says, and the headings over and in it."""
    said = hit.payload
    return "\n".join((said.get("text") or "", *said.get("section", ()), *said.get("under", ())))


@lru_cache(maxsize=64)  # each hit is looked at twice a search
def _stems(text: str, language: str) -> str:
    return f" {' '.join(terms(text, (), language=language))} "
