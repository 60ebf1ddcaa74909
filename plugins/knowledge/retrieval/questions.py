"""What may be asked: text of a bounded length, without control characters."""

from __future__ import annotations

import unicodedata

from gateway.contract import ToolFailed
from gateway.toolkit.questions import checked_question


def check_question(question: str) -> str:
    """A question fit to be searched for, without spaces around it.

    Raises:
        ToolFailed: ``invalid_query``, with what to do about it.
    """
    question = checked_question(question)
    if plain(question) != question:
        raise ToolFailed("invalid_query", "The query holds control characters; send plain text.")
    return question


def plain(text: str) -> str:
    """A text with a space for each control character that is no spacing."""
    return "".join(" " if _is_control(one) else one for one in text)


def _is_control(one: str) -> bool:
    return unicodedata.category(one) in ("Cc", "Cs") and one not in "\t\r\n"
