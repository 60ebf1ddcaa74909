"""Takes secrets out of what is sent to a provider, whoever wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gateway.scrubbing.contents import ContentScrub

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import ModelRequestParameters

__all__ = ["PromptScrub"]


class PromptScrub:
    """Takes secrets out of prompts, also where the portal keeps and answers them as they are.

    Args:
        allow: names of rules that are not applied (``scrubbing.allow``).
    """

    def __init__(self, allow: tuple[str, ...] = ()) -> None:
        self._scrub = ContentScrub("models", True, allow)

    def text(self, text: str) -> str:
        """A text without its secrets."""
        return self._scrub.text(text)[0]

    def value(self, value: Any) -> Any:
        """A JSON value without the secrets in its texts; other values are left."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.value(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        return value

    def messages(self, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """Messages without the secrets in their texts; those given stay as they are."""
        clean = list[Any]()
        for each in messages:
            parts: Any = [self._part(part) for part in each.parts]
            made: Any = replace(each, parts=parts)
            if getattr(made, "instructions", None):
                made.instructions = self.text(made.instructions)
            clean.append(made)
        return clean

    def parameters(self, parameters: ModelRequestParameters) -> ModelRequestParameters:
        """What goes along with messages, without the secrets in the instructions."""
        given = parameters.instruction_parts
        if not given:
            return parameters
        parts = [replace(each, content=self.text(each.content)) for each in given]
        return replace(parameters, instruction_parts=parts)

    def _part(self, part: Any) -> Any:
        content = getattr(part, "content", None)
        if content is None or isinstance(content, bytes):
            return part
        clean = self.value(content)
        return part if clean == content else replace(part, content=clean)
