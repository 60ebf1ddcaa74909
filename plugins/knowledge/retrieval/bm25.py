"""BM25 as sparse vectors: the document's half here, the inverse document frequency in the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from gateway.contract import Sparse
from gateway.toolkit.bm25 import query_weights, text_weights
from gateway.toolkit.languages import DEFAULT
from gateway.toolkit.words import STOP_WORDS, terms


def document(text: str, average: float, language: str = DEFAULT) -> Sparse:
    """The sparse vector of a stored text.

    Args:
        text: the text.
        average: how many terms a text of this kind has on average.
        language: whose stemmer is used.
    """
    return text_weights(Counter(terms(text, language=language)), average)


def fields(parts: Iterable[tuple[float, str]], average: float, language: str = DEFAULT) -> Sparse:
    """The sparse vector of a text in fields, of which some say more than others (BM25F).

    Args:
        parts: what each field counts, and its text.
        average: how many terms such a text has on average, as they count.
        language: whose stemmer is used.
    """
    counts: Counter[str] = Counter()
    for weight, text in parts:
        for term in terms(text, language=language):
            counts[term] += weight  # type: ignore[assignment]
    return text_weights(counts, average)


def query(
    text: str,
    languages: Sequence[str] = (DEFAULT,),
    other_names: Mapping[str, float] = MappingProxyType({}),
    stop_words: Collection[str] = STOP_WORDS,
) -> Sparse:
    """The sparse vector of a question: weight one for each different term.

    Args:
        text: the question.
        languages: those of the stored texts; a word is sought as each one's stemmer has it.
        other_names: what the lexicon also calls what was asked, and what that counts.
        stop_words: words that are left out.
    """
    asked = [term for one in languages for term in terms(text, stop_words, language=one)]
    others: dict[str, float] = {}
    for name, weight in other_names.items():
        for term in (term for one in languages for term in terms(name, language=one)):
            others[term] = max(weight, others.get(term, 0.0))
    return query_weights(asked, others)
