"""Which texts a model can read, as far as its name, their script and their language tell.

An English model takes any text apart into letters, and gives it a vector that says next to nothing:
what it finds near is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway.toolkit.function_words import FUNCTION_WORDS
from gateway.toolkit.languages import DEFAULT
from plugins.knowledge.notes.documents import DocumentEntry

_ENGLISH = re.compile(r"(?!.*multilingual).*(?:minilm|mpnet|[-_]en(?:[-_.+]|$))", re.IGNORECASE)
"""The names of models for English: the portal's own, and those that say so."""
_LAST_LATIN = "\u024f"
UNREAD_NOTE = (
    "This portal's embedding model cannot read the script of the question: results are found by "
    "words alone."
)
MIN_UNREAD = 1 / 20
"""The share of documents from which the admin is told that the model cannot read them."""


def reads(model: str, text: str) -> bool:
    """Whether a model can read a text; of a model of which nothing is known, yes.

    Args:
        model: its name.
        text: a question, or a document.
    """
    return not reads_english_alone(model) or is_latin(text)


def reads_english_alone(model: str) -> bool:
    """Whether a model is one for English, as far as its name tells."""
    return _ENGLISH.match(model) is not None


def is_latin(text: str) -> bool:
    """Whether at least half of a text's letters are Latin ones, or it has none."""
    letters = [one for one in text if one.isalpha()]
    return 2 * sum(one <= _LAST_LATIN for one in letters) >= len(letters)


FOREIGN_LANGUAGES = frozenset(
    code for code, own in FUNCTION_WORDS.items() if code != DEFAULT and is_latin(" ".join(own))
)
"""Languages in letters that a model for English reads, without knowing their words."""


def advice(model: str, entries: Sequence[DocumentEntry], foreign: int) -> str:
    """What an admin should do about documents that a model cannot read; else an empty text.

    Where it is their script that it does not know, title and description stand for all of it.

    Args:
        model: its name.
        entries: the documents.
        foreign: how many of these are in :data:`FOREIGN_LANGUAGES`.
    """
    unread = sum(not reads(model, f"{one.title} {one.description}") for one in entries)
    unread += foreign if reads_english_alone(model) else 0
    if not unread or unread < MIN_UNREAD * len(entries):
        return ""
    return (
        f"{unread} of {len(entries)} documents are in languages that the embedding model cannot "
        "read, and are found by their words: run `make multilingual`, and write "
        "`embedding: multilingual` under services in portal.yaml."
    )
