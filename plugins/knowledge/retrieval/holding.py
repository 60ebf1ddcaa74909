"""What was found with what holds first, and with what stands in the place of the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.retrieval.quotes import Quote
from plugins.knowledge.retrieval.relevance import Candidate


@dataclass(frozen=True, slots=True)
class Found:
    """A document that may answer.

    Attributes:
        candidate: with its score.
        entry: the document.
        quotes: the passages that are shown.
        rating: by the reranking model, where there is one.
    """

    candidate: Candidate
    entry: DocumentEntry
    quotes: Sequence[Quote] = ()
    rating: float | None = None


Places = Mapping[str, Sequence[DocumentEntry]]
"""What stands in the place of each document that was found, by the key of that one."""


def with_successors(
    found: Sequence[Found], places: Places, admits: Callable[[DocumentEntry], bool]
) -> list[Found]:
    """What was found, with the successors of it that the question did not find.

    Args:
        found: the best first.
        places: what stands in their places.
        admits: whether a document is what was asked for.
    """
    missing: dict[str, Found] = {}
    for one in found:
        for other in places[one.entry.key]:
            if other.key not in places and admits(other):
                candidate = replace(one.candidate, key=other.key)
                missing.setdefault(other.key, Found(candidate, other))
    return [*found, *missing.values()]


def one_version_each(found: Sequence[Found], shown: Mapping[str, str]) -> list[Found]:
    """Of each page the version that is shown, where the best of its versions stood.

    Args:
        found: the best first.
        shown: the key of that version, by the keys of those that it stands for.
    """
    known = {one.entry.key: one for one in found}
    kept: dict[str, Found] = {}
    for one in found:
        key = shown.get(one.entry.key, one.entry.key)
        if key not in kept:
            kept[key] = _at_least(known[key], one)
    return [*kept.values()]


def holding_first(
    found: Sequence[Found], succeeding: Places, weights: Mapping[str, float]
) -> list[Found]:
    """What holds before what it ends: a successor answers at least as well as what it replaces.

    Of what answers equally well the successor is first, and of others the later one.

    Args:
        found: what was found, and its successors.
        succeeding: what took the place of what was found, in the end and on the way there.
        weights: what is left of the score of each, by its key.
    """
    best = {one.entry.key: one for one in found}
    for one in found:
        for other in succeeding.get(one.entry.key, ()):
            if (successor := best.get(other.key)) is not None:
                best[other.key] = _at_least(successor, one)
    weighed = [_weighed(one, weights[key]) for key, one in best.items()]
    return sorted(weighed, key=lambda one: _order(one, succeeding))


def best_first(found: Sequence[Found], weights: Mapping[str, float]) -> list[Found]:
    """What was found by what is left of its score, whether it holds or not.

    Args:
        found: what was found, the best first.
        weights: what is left of the score of each, by its key; all of it where there is none.
    """
    weighed = [_weighed(one, weights.get(one.entry.key, 1.0)) for one in found]
    return sorted(weighed, key=lambda one: -_value(one))


def _order(one: Found, succeeding: Places) -> tuple[float, float, int, float]:
    later = len(succeeding.get(one.entry.key, ()))
    return -_value(one), -one.candidate.score, later, -one.entry.written.timestamp()


def _at_least(one: Found, other: Found) -> Found:
    score = max(one.candidate.score, other.candidate.score)
    rating = None if one.rating is None else max(one.rating, other.rating or 0.0)
    return replace(one, candidate=replace(one.candidate, score=score), rating=rating)


def _weighed(one: Found, weight: float) -> Found:
    score = min(one.candidate.score, one.candidate.score * weight)  # one below zero stays
    rating = None if one.rating is None else one.rating * weight
    return replace(one, candidate=replace(one.candidate, score=score), rating=rating)


def _value(one: Found) -> float:
    return one.candidate.score if one.rating is None else one.rating
