"""Numbers that documents go by: ``EIP-1559``, ``RFC 7519``, ``ADR 12``.

Proposals, decisions and standards are asked for by their number, and are titled by what they say:
the number may stand in the name of their file alone.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.retrieval.markup import one_line

_NUMBER = re.compile(
    r"(?<![^\W_])(?P<kind>[^\W\d_]{2,12})[ _#-]{0,2}0*(?P<number>\d{1,6})(?![^\W_]|[./-]\d)"
)
"""A word and a number, which no date and no version goes on: ``notes-2024-05-01``, ``v 1.2``."""


def numbers(text: str) -> set[str]:
    """The numbers that a text names, in the form for comparing.

    ``EIP-1559``, ``eip 1559`` and ``EIP01559`` have one form.
    """
    return {_form(found) for found in _NUMBER.finditer(text)}


def numbers_of(entry: DocumentEntry) -> set[str]:
    """The numbers that a document goes by: those with which a name of it or its file begins."""
    stem = PurePosixPath(entry.path).stem
    called = (one_line(entry.title), *entry.aliases, stem)
    return {_form(found) for name in called if (found := _NUMBER.match(name.strip("# ")))}


def _form(found: re.Match[str]) -> str:
    return f"{found['kind'].casefold()} {found['number']}"
