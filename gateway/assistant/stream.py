"""What came of an answer since a client last heard, as events of the Vercel data stream protocol.

The events are computed from what the answer is now and from a place in it, so that nothing is kept
for clients: any replica can go on from any event's id. The types of the events are pydantic-ai's
(``pydantic_ai.ui.vercel_ai``); the protocol is https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol,
"UI message stream", version 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.assistant.conversation import Text, ToolCall, Turn

if TYPE_CHECKING:
    from pydantic_ai.ui.vercel_ai.response_types import BaseChunk

SDK_VERSION = 6
"""The version of the AI SDK whose events are sent; with it came approvals."""
DONE = "[DONE]"
"""The last event's data."""

_PLACE = re.compile(r"(\d{1,6})\.(\d{1,9})\.((?:\d{1,6}-)*)")


@dataclass(slots=True)
class Place:
    """How far a client has heard an answer.

    Attributes:
        parts: how many parts it knows of.
        characters: how many it has of the last of them, where that is text.
        calls: the parts among them that are calls whose end it has not heard.
    """

    parts: int = 0
    characters: int = 0
    calls: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        """The id of an event after which the client is at this place."""
        return f"{self.parts}.{self.characters}.{''.join(f'{each}-' for each in self.calls)}"

    @classmethod
    def read(cls, id: str) -> Place:
        """The place after an event's id; the beginning where it is none of ours."""
        found = _PLACE.fullmatch(id)
        if found is None:
            return cls()
        calls = [int(each) for each in found[3].split("-") if each]
        return cls(int(found[1]), int(found[2]), calls)


def news(turn: Turn, place: Place) -> Iterator[str]:
    """The events that bring a client up to date, as lines of an event stream.

    Args:
        turn: the answer as it is now.
        place: how far the client has heard it; it is moved.
    """
    for chunk in _chunks(turn, place):
        yield f"id: {place}\ndata: {chunk.encode(SDK_VERSION)}\n\n"
    if turn.state != "running":
        yield f"data: {DONE}\n\n"


def beginning(turn: Turn) -> str:
    """The first event of a stream: which message it is about."""
    from pydantic_ai.ui.vercel_ai.response_types import StartChunk

    about = {"conversation": turn.conversation, "turn": turn.number}
    start = StartChunk(message_id=turn.id, message_metadata=about)
    return f"data: {start.encode(SDK_VERSION)}\n\n"


def _chunks(turn: Turn, place: Place) -> Iterator[BaseChunk]:
    from pydantic_ai.ui.vercel_ai.response_types import TextDeltaChunk, TextEndChunk, TextStartChunk

    place.parts = min(place.parts, len(turn.parts))
    yield from _ended_calls(turn, place)
    while True:
        at = place.parts - 1
        last = turn.parts[at] if at >= 0 else None
        is_over = turn.state != "running" or place.parts < len(turn.parts)
        if last is not None and last["kind"] == "text":
            more = last["text"][place.characters :]
            place.characters += len(more)
            if more:
                yield TextDeltaChunk(id=_name(turn, at), delta=more)
            if is_over:
                yield TextEndChunk(id=_name(turn, at))
        if place.parts == len(turn.parts):
            break
        place.parts, place.characters = place.parts + 1, 0
        part = turn.parts[at + 1]
        if part["kind"] == "text":
            yield TextStartChunk(id=_name(turn, at + 1))
        else:
            place.calls.append(at + 1)
            yield _called(part)
            yield from _ended_calls(turn, place)
    if turn.state != "running":
        yield from _end(turn)


def _called(call: ToolCall) -> BaseChunk:
    from pydantic_ai.ui.vercel_ai.response_types import ToolInputAvailableChunk

    return ToolInputAvailableChunk(
        tool_call_id=call["id"], tool_name=call["tool"], input=call["arguments"], dynamic=True
    )


def _ended_calls(turn: Turn, place: Place) -> Iterator[BaseChunk]:
    from pydantic_ai.ui.vercel_ai.response_types import (
        SourceUrlChunk,
        ToolOutputAvailableChunk,
        ToolOutputDeniedChunk,
        ToolOutputErrorChunk,
    )

    for at in list(place.calls):
        part: Text | ToolCall | None = turn.parts[at] if at < len(turn.parts) else None
        if part is None or part["kind"] == "text":
            place.calls.remove(at)
            continue
        if part["state"] in ("running", "waiting"):
            continue
        place.calls.remove(at)
        if part["state"] == "refused":
            yield ToolOutputDeniedChunk(tool_call_id=part["id"])
        elif part["state"] == "failed":
            yield ToolOutputErrorChunk(tool_call_id=part["id"], error_text=part["said"])
        else:
            output = {"sources": part["sources"]}
            yield ToolOutputAvailableChunk(tool_call_id=part["id"], output=output, dynamic=True)
        for number, source in enumerate(part["sources"]):
            id = f"{part['id']}-{number}"
            yield SourceUrlChunk(source_id=id, url=source["address"], title=source["title"])


def _end(turn: Turn) -> Iterator[BaseChunk]:
    from pydantic_ai.ui.vercel_ai.response_types import (
        AbortChunk,
        DataChunk,
        ErrorChunk,
        FinishChunk,
        ToolApprovalRequestChunk,
    )

    for part in turn.parts:
        if part["kind"] == "call" and part["state"] == "waiting" and part["approval"]:
            id = part["approval"]["id"]
            yield ToolApprovalRequestChunk(approval_id=id, tool_call_id=part["id"])
    yield DataChunk(type="data-state", data={"state": turn.state})
    if turn.state == "failed":
        yield ErrorChunk(error_text=turn.trouble.message if turn.trouble else "It failed.")
    elif turn.state in ("stopped", "interrupted"):
        yield AbortChunk(reason=turn.state)
    else:
        yield FinishChunk(finish_reason="tool-calls" if turn.state == "waiting" else "stop")


def _name(turn: Turn, at: int) -> str:
    return f"{turn.id}-{at}"
