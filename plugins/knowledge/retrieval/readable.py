"""Which texts a model can read, as far as its name and their script tell.

An English model takes any text apart into letters, and gives it a vector that says next to nothing:
what it finds near is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plugins.knowledge.notes.documents import DocumentEntry

_ENGLISH = re.compile(r"(?!.*multilingual).*(?:minilm|mpnet|[-_]en(?:[-_.+]|$))", re.IGNORECASE)
"""The names of models for English: the portal's own, and those that say so."""
_LAST_LATIN = "\u024f"
MIN_UNREAD = 1 / 20
"""The share of documents from which the admin is told that the model cannot read them."""


def reads(model: str, text: str) -> bool:
    """Whether a model can read a text; of a model of which nothing is known, yes.

    Args:
        model: its name.
        text: a question, or a document.
    """
    return _ENGLISH.match(model) is None or is_latin(text)


def is_latin(text: str) -> bool:
    """Whether at least half of a text's letters are Latin ones, or it has none."""
    letters = [one for one in text if one.isalpha()]
    return 2 * sum(one <= _LAST_LATIN for one in letters) >= len(letters)


def advice(model: str, entries: Sequence[DocumentEntry]) -> str:
    """What an admin should do about documents that a model cannot read; else an empty text.

    A document's title and description stand for all of it.

    Args:
        model: its name.
        entries: the documents.
    """
    unread = sum(not reads(model, f"{one.title} {one.description}") for one in entries)
    if not unread or unread < MIN_UNREAD * len(entries):
        return ""
    return (
        f"{unread} of {len(entries)} documents are in scripts that the embedding model cannot "
        "read, and are found by their words alone: run `make multilingual`, and write "
        "`embedding: multilingual` under services in portal.yaml."
    )
