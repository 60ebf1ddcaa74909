"""A question to search by: some words, and no more than a search can take."""

from __future__ import annotations

from gateway.contract import ToolFailed


def checked_question(question: str, longest: int) -> str:
    """A question without the spaces around it.

    Args:
        question: as it was asked.
        longest: the most characters that it may have.

    Raises:
        ToolFailed: ``invalid_query``: it is empty or too long; with what to do about it.
    """
    question = question.strip()
    if not question:
        raise ToolFailed("invalid_query", "The query is empty; say what to look for.")
    if len(question) > longest:
        raise ToolFailed(
            "invalid_query",
            f"The query has {len(question)} characters; {longest} is the limit. "
            "Ask in a sentence or two.",
        )
    return question
