"""A conversation as a file to take along: Markdown to read, JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from gateway.assistant.conversation import Conversation, ToolCall, Turn

_SAID = {
    "running": "not ended",
    "done": "done",
    "failed": "failed",
    "waiting": "waits for a yes",
    "refused": "refused",
}


def as_json(conversation: Conversation) -> bytes:
    """A conversation as JSON."""
    return to_json(described(conversation), indent=2)


def described(conversation: Conversation) -> dict[str, Any]:
    """A conversation as JSON values, as every API shows it."""
    return {
        "id": conversation.id,
        "title": conversation.title,
        "begun": conversation.begun,
        "changed": conversation.changed,
        "turns": [described_turn(each) for each in conversation.turns],
    }


def described_turn(turn: Turn) -> dict[str, Any]:
    """A turn as JSON values."""
    trouble: Mapping[str, str] | None = None
    if turn.trouble is not None:
        trouble = {"code": turn.trouble.code, "message": turn.trouble.message}
    return {
        "id": turn.id,
        "number": turn.number,
        "question": turn.question,
        "state": turn.state,
        "parts": list(turn.parts),
        "error": trouble,
        "begun": turn.begun,
        "ended": turn.ended,
    }


def as_markdown(conversation: Conversation) -> str:
    """A conversation as Markdown."""
    parts = [f"# {conversation.title}", f"Begun {conversation.begun:%Y-%m-%d %H:%M} UTC"]
    for turn in conversation.turns:
        parts += [f"## Question {turn.number}", _quoted(turn.question), "## Answer"]
        for part in turn.parts:
            parts.append(part["text"] if part["kind"] == "text" else _line(part))
        if turn.state != "done":
            why = f": {turn.trouble.message}" if turn.trouble else ""
            parts.append(f"*({turn.state}{why})*")
    return "\n\n".join(parts) + "\n"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.splitlines())


def _line(call: ToolCall) -> str:
    lines = [f"*{call['title']} (`{call['tool']}`): {_SAID[call['state']]}*"]
    lines += [f"- [{each['title']}]({each['address']})" for each in call["sources"]]
    return "\n".join(lines)
