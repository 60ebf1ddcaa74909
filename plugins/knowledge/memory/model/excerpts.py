"""The beginning of what an entry says, for lists of several."""

from __future__ import annotations


def beginning(text: str, longest: int) -> str:
    """A text, or its first characters with a sign that it goes on.

    Args:
        text: the whole.
        longest: how many characters are shown.
    """
    return text if len(text) <= longest else f"{text[:longest]}…"
