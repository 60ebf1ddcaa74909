"""Rows of the tables as conversations and turns."""

from __future__ import annotations

from typing import Any

from gateway.assistant.conversation import Conversation, Trouble, Turn


def as_conversation(row: Any) -> Conversation:
    """A conversation, without its turns."""
    return Conversation(row.id, row.title, row.begun, row.changed)


def as_turn(row: Any) -> Turn:
    """A turn."""
    return Turn(
        id=row.id,
        conversation=row.conversation,
        number=row.number,
        question=row.question,
        state=row.state,
        parts=row.parts,
        trouble=Trouble(**row.trouble) if row.trouble else None,
        messages=row.messages,
        beat=row.beat,
        begun=row.begun,
        ended=row.ended,
    )
