"""The terms of workflows and tasks, and the form in which names are compared.

Both are without case in any language, since names are compared by them.
"""

from __future__ import annotations

from gateway.toolkit import words as toolkit

_TELLING_HERE = frozenset({"again", "down", "few", "s", "theirs", "upon"})
_ASKING = frozenset({"let", "need", "please", "want"})
STOP_WORDS = toolkit.STOP_WORDS - _TELLING_HERE | _ASKING
"""Words that tell nothing of a task."""


def terms(text: str) -> list[str]:
    """The stems of a text, in order and with repetitions, without stop words."""
    return toolkit.terms(text, STOP_WORDS, fold=str.casefold)


def normal(name: str) -> str:
    """The form in which names are compared: its words, or where it has none, its characters."""
    return " ".join(toolkit.words(name, fold=str.casefold)) or " ".join(name.split())
