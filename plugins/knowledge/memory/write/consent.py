"""Asks the person in front of an agent to approve a write, where their client can ask."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any

from mcp_types import InputRequiredResult

from gateway.contract import Exchange, ToolFailed


class Answer(StrEnum):
    """What the person said."""

    AGREED = "agreed"
    REFUSED = "refused"
    NONE = "none"


Consent = Callable[[str, str], Awaitable[Answer]]
"""``await consent(question, about)``: asks; ``about`` tells this write from every other."""


class NeedsAnswer(Exception):
    """The client has to call once more, with the person's answer.

    Args:
        result: what the tool returns until then.
    """

    def __init__(self, result: InputRequiredResult) -> None:
        super().__init__("the client has to ask its person")
        self.result = result


def consent_through(exchange: Exchange) -> Consent:
    """Asks through the client of a call.

    A legacy session is asked on its stream; a client of 2026-07-28 is sent back with the
    question, and its answer counts for the very write that it was asked about.

    Args:
        exchange: the call's.
    """

    async def consent(question: str, about: str) -> Answer:
        if not _can_show_forms(exchange.client_capabilities):
            return Answer.NONE
        asked = {"mode": "form", "message": question, "requestedSchema": _FORM}
        if exchange.can_ask:
            try:
                return _read(await exchange.ask("elicitation/create", asked))
            except ToolFailed:
                return Answer.NONE
        state = hashlib.sha256(about.encode()).hexdigest()
        answers = exchange.input_responses or {}
        if exchange.request_state == state and _KEY in answers:
            return _read(answers[_KEY])
        request = {"method": "elicitation/create", "params": asked}
        needed = {"inputRequests": {_KEY: request}, "requestState": state}
        raise NeedsAnswer(InputRequiredResult.model_validate(needed))

    return consent


def excerpt(content: str) -> str:
    """What a question shows of an entry; where that is not all of it, it says so."""
    left = len(content) - _MAX_EXCERPT
    return content if left <= 0 else f"{content[:_MAX_EXCERPT]}\n\n(and {left:,} characters more)"


_MAX_EXCERPT = 4000
"""Characters of an entry that a question shows."""
_KEY = "approval"
_FORM = {
    "type": "object",
    "properties": {"approve": {"type": "boolean", "title": "Approve", "default": False}},
    "required": ["approve"],
}


def _can_show_forms(capabilities: Mapping[str, Any]) -> bool:
    modes = capabilities.get("elicitation")
    return modes is not None and (not modes or "form" in modes)


def _read(answer: Any) -> Answer:
    """The person's answer; who closes the question has not answered it."""
    said = answer if isinstance(answer, Mapping) else {}
    content = said.get("content")
    if said.get("action") == "accept" and isinstance(content, Mapping):
        return Answer.AGREED if content.get("approve") is True else Answer.REFUSED
    return Answer.REFUSED if said.get("action") == "decline" else Answer.NONE
