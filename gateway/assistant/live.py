"""An answer that is being written in this process, and those here who follow it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Literal

from gateway.assistant.conversation import Part, State, ToolCall, Trouble, Turn
from gateway.assistant.desk import Found
from gateway.catalog.approval_rule import CONFIRMED

Why = Literal["stopped", "interrupted", "gone"]
"""Why an answer ends before its end: its person stopped it, the portal stops, it is deleted or
written elsewhere."""


MAX_SAID_CHARACTERS = 1000
"""Characters that are kept of why a call has failed."""


class Live:
    """An answer as it grows.

    Args:
        turn: the turn when its writing began.
        person: whose it is.
        run: names who writes it.

    Attributes:
        why: why it is to end now; None where it is not.
        task: what writes it.
    """

    def __init__(self, turn: Turn, person: str, run: str) -> None:
        self.person, self.run = person, run
        self.why: Why | None = None
        self.task: asyncio.Task[None] | None = None
        self._turn = turn
        self._parts: list[Part] = list(turn.parts)
        self._changed = asyncio.Event()
        self._in_text = False

    @property
    def id(self) -> str:
        """The turn's id."""
        return self._turn.id

    @property
    def turn(self) -> Turn:
        """The turn as it is now."""
        return replace(self._turn, parts=list(self._parts))

    @property
    def changed(self) -> asyncio.Event:
        """Set once there is more than now."""
        return self._changed

    def stop(self, why: Why) -> None:
        """Have it end; what its provider still sends is not read."""
        self.why = self.why or why
        if self.task is not None:
            self.task.cancel()

    def ended(self, state: State, trouble: Trouble | None) -> None:
        """Say how it ended."""
        self.cut()
        self._turn = replace(self._turn, state=state, trouble=trouble)
        self._tell()

    def wake(self) -> None:
        """Have those who follow it look again."""
        self._tell()

    def cut(self) -> None:
        """Say of calls that run still that they have not come to their end."""
        for part in self._parts:
            if part["kind"] == "call" and part["state"] == "running":
                part["state"], part["said"] = "failed", "It did not come to its end."

    # The writer's.

    def begin_text(self, text: str) -> None:
        """Words begin."""
        self._in_text = False
        self.say(text)

    def say(self, text: str) -> None:
        """More words."""
        last = self._parts[-1] if self._parts else None
        if self._in_text and last is not None and last["kind"] == "text":
            last["text"] += text
        elif text := text.lstrip():  # spaces alone are no words
            self._parts.append({"kind": "text", "text": text})
            self._in_text = True
        self._tell()

    def called(self, call: ToolCall) -> None:
        """A tool is called; one that has waited goes on."""
        known = self._call(call["id"])
        if known is None:
            self._parts.append(call)
            self._in_text = False
        else:
            known["state"] = "running"
        self._tell()

    def answered(self, id: str, found: Found, *, refused: bool = False) -> None:
        """A tool has answered, or somebody said no."""
        call = self._call(id)
        if call is None:
            return
        failed = "refused" if refused else "failed"
        call["state"] = failed if found.failed else "done"  # type: ignore[typeddict-item]
        call["said"] = found.text[:MAX_SAID_CHARACTERS] if found.failed else ""
        call["sources"], call["approval"] = list(found.sources), None
        self._tell()

    def waits(self, id: str, found: Found) -> None:
        """A call waits for somebody's yes."""
        call, asked = self._call(id), found.approval
        if call is None or asked is None:
            return
        call["state"], call["said"] = "waiting", ""
        call["approval"] = {
            "id": str(asked.get("approval", "")),
            "by": str(asked.get("by", "")),
            "own": asked.get("by") == CONFIRMED.who,
            "url": str(asked.get("url", "")),
        }
        self._tell()

    def _call(self, id: str) -> ToolCall | None:
        calls = (each for each in reversed(self._parts) if each["kind"] == "call")
        return next((each for each in calls if each["id"] == id), None)

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
