"""A question to search by: some words, and no more than a search can take."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from gateway.contract import ToolFailed

MAX_QUESTION_CHARACTERS = 2_000
"""Characters of a question; a longer one is refused."""
Question: TypeAlias = Annotated[str, Field(max_length=MAX_QUESTION_CHARACTERS)]
"""An argument that is a question, with its limit in the tool's schema."""


def checked_question(question: str) -> str:
    """A question without the spaces around it.

    Raises:
        ToolFailed: ``invalid_query``: it is empty or too long; with what to do about it.
    """
    question = question.strip()
    if not question:
        raise ToolFailed("invalid_query", "The query is empty; say what to look for.")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise ToolFailed(
            "invalid_query",
            f"The query has {len(question)} characters; {MAX_QUESTION_CHARACTERS} is the limit. "
            "Ask in a sentence or two.",
        )
    return question
