"""Conversations as they are kept: turns of a question and an answer, which is made of parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypedDict

from gateway.errors import NotFound, PortalError

State = Literal["running", "waiting", "done", "stopped", "failed", "interrupted"]
"""What has become of an answer; ``waiting`` is for somebody's yes."""
UNFINISHED: tuple[State, ...] = ("waiting", "stopped", "failed", "interrupted")
"""States from which an answer can go on."""
CallState = Literal["running", "done", "failed", "waiting", "refused"]

MAX_QUESTION_CHARACTERS = 16_000
"""Characters of one message."""
MAX_TITLE_CHARACTERS = 120
MAX_TURNS = 200
"""Turns of one conversation."""
MAX_CONVERSATIONS = 500
"""Conversations of one person."""


class Source(TypedDict):
    """Where something that an answer rests on can be read.

    Attributes:
        title: what it is called.
        address: where a browser finds it.
    """

    title: str
    address: str


class Approval(TypedDict):
    """A request for somebody's yes that a call waits for.

    Attributes:
        id: the request's.
        by: who is asked, in words.
        own: whether it is the person themselves.
        url: the page on which it is decided.
    """

    id: str
    by: str
    own: bool
    url: str


class Text(TypedDict):
    """Words of the assistant, in Markdown."""

    kind: Literal["text"]
    text: str


class ToolCall(TypedDict):
    """A call of a tool.

    Attributes:
        id: the model's name for it.
        tool: what the portal calls the tool.
        title: what people call it.
        arguments: what it was given, without secrets.
        state: how far it is.
        said: why it has failed, where it has.
        sources: what was found, as links.
        approval: whose yes it waits for; None once it does not.
    """

    kind: Literal["call"]
    id: str
    tool: str
    title: str
    arguments: dict[str, Any]
    state: CallState
    said: str
    sources: list[Source]
    approval: Approval | None


Part = Text | ToolCall


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an answer has no good end.

    Attributes:
        code: a short snake_case word.
        message: what is wrong and what to do.
    """

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and its answer, as far as there is one.

    Attributes:
        id: random.
        conversation: whose turn it is.
        number: which one, from 1.
        question: what the person wrote.
        state: what has become of the answer.
        parts: the answer.
        trouble: why it has no good end, where it has none.
        messages: what was said to the model and by it in this turn, as JSON; only while it may
            go on.
        beat: grows as long as somebody writes the answer.
        begun: when it was asked.
        ended: when the answer ended.
    """

    id: str
    conversation: str
    number: int
    question: str
    state: State
    parts: Sequence[Part]
    trouble: Trouble | None
    messages: str | None
    beat: int
    begun: datetime
    ended: datetime | None

    @property
    def text(self) -> str:
        """The words of the answer, without its calls."""
        return "\n\n".join(each["text"] for each in self.parts if each["kind"] == "text")

    @property
    def awaited(self) -> list[Approval]:
        """Whose yes it waits for."""
        waiting = [each for each in self.parts if each["kind"] == "call" and each["approval"]]
        return [each["approval"] for each in waiting if each["approval"]]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation.

    Attributes:
        id: random.
        title: how the person knows it.
        begun: when it began.
        changed: when something was last said in it.
        turns: its turns in their order; none where only the list was asked for.
    """

    id: str
    title: str
    begun: datetime
    changed: datetime
    turns: Sequence[Turn] = ()

    @property
    def last(self) -> Turn | None:
        """The newest turn."""
        return self.turns[-1] if self.turns else None


class Busy(PortalError):
    """Something is under way that has to end first."""

    code = "busy"
    status = 409


class NotTaken(PortalError):
    """A message, or a title, cannot be taken; the text says why."""

    code = "not_taken"
    status = 422


class TooLong(NotTaken):
    """A message has too many characters."""

    code = "too_large"
    status = 413


def unknown(id: str) -> NotFound:
    """There is no such conversation of this person: also where it is somebody else's."""
    return NotFound("There is no such conversation of yours.", {"conversation": id[:100]})


def checked(message: str) -> str:
    """A message as it is taken.

    Raises:
        NotTaken: it is empty, or too long.
    """
    text = message.strip()
    if not text:
        raise NotTaken("The message is empty. Write what you want to know.")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise TooLong(
            f"The message has {len(text):,} characters; {MAX_QUESTION_CHARACTERS:,} are taken. "
            "Shorten it, or say where the rest can be read."
        )
    return text


def titled(question: str) -> str:
    """A title for a conversation that begins with a question: its first words."""
    words = " ".join(question.split())
    if len(words) <= MAX_TITLE_CHARACTERS // 2:
        return words
    return words[: MAX_TITLE_CHARACTERS // 2].rsplit(" ", 1)[0] + " …"
