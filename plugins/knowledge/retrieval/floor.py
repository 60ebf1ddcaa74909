"""The floor: below a minimum score, the nearest documents are no answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gateway.toolkit.words import terms
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.relevance import Hits

FLOOR = 0.22
"""The score, 0 to 1, that the best document of an answer has to have.

The README ("Where nothing fits") has the measurements: what floors from 0.15 to 0.3 lose of 1,187
right answers, and how many questions in vain they leave without an answer.

Where one document reaches it, the others stay, however low they score: cut at the floor too, nDCG@5
on civic-kb's given questions fell from .685 to .659, with the weights before decision 0044.
"""

MIN_WORD_SHARE = 1 / 3
"""The share of a question's words that some document has to exceed, without a model.

Measured as :data:`FLOOR`, by words alone: of 60 questions in other words whose right answer is
among the first five none is lost; of those in vain 109 of 120 and 36 of 60 get no answer.
"""
MIN_UNREAD_SHARE = 1 / 5
"""The same for a question that the model cannot read (``readable.py``), where no score counts.

Less, as half the pairs of characters of a question are its grammar. Over 29 documents in seven
languages, with questions in five: of 42 in vain 38 get no answer, of 21 that fit 16 keep theirs;
with a third it is 41 and 12.
"""
_MAX_NAMED = 3


def fitting(
    question: str,
    best: float,
    entries: Sequence[DocumentEntry],
    hits: Hits,
    languages: Sequence[str],
    *,
    by_meaning: bool,
    is_read: bool = True,
) -> Sequence[str]:
    """The keys of what answers, of what was found, in the order in which it is shown.

    Where the best score is low, a document answers that says every word of the question, such as a
    number or a rare name, and nothing beside it does. Fewer words do where no meanings were
    compared.

    Args:
        question: the question.
        best: the best score of a document, 0 to 1.
        entries: the documents that were found.
        hits: what the store found, of which these were made.
        languages: those of the documents.
        by_meaning: whether a model compared meanings.
        is_read: whether the portal's model can read the question.
    """
    if best >= FLOOR:
        return [one.key for one in entries]
    least = MIN_WORD_SHARE if is_read else MIN_UNREAD_SHARE
    holding: set[str] = set()
    for language in languages:
        shares = _shares(question, entries, hits, language)
        for one, share in zip(entries, shares, strict=False):  # there is none of signs alone
            if share == 1.0 or (not by_meaning and share > least):
                holding.add(one.key)
    return [one.key for one in entries if one.key in holding]


def nothing_fits(entries: Iterable[DocumentEntry]) -> str:
    """What an answer without results says.

    Args:
        entries: what was found, the nearest first.
    """
    nearest = [f"{one_line(one.title)} ({one.key})" for one in entries][:_MAX_NAMED]
    if not nearest:
        return "Nothing here fits that."
    return f"Nothing here fits that. Nearest, though far from it: {', '.join(nearest)}."


def _shares(
    question: str, entries: Sequence[DocumentEntry], hits: Hits, language: str
) -> Iterable[float]:
    """The share of the question's words that each document and its passages hold."""
    asked = frozenset(terms(question, language=language))
    if not asked:
        return
    said: dict[str, set[str]] = {entry.key: set() for entry in entries}
    for hit in (*hits.terms, *hits.passages):
        if hit.payload["key"] not in said:  # to cut a text into words takes longer than all else
            continue
        above = (*(hit.payload.get("section") or ()), *(hit.payload.get("under") or ()))
        text = " ".join((hit.payload["text"] or "", *above))
        said[hit.payload["key"]] |= asked.intersection(terms(text, language=language))
    for entry in entries:
        about = " ".join((entry.title, entry.description, *entry.tags, *entry.aliases))
        held = said[entry.key] | asked.intersection(terms(about, language=language))
        yield len(held) / len(asked)
