"""Fits a tool's schema to a provider's API once, and not at each request that offers the tool.

An agent offers dozens of tools at each step, and their schemas stay the same; to walk all of them
took most of the time until a model was asked (``benchmarks/assistant.py``).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Any

from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.tools import ToolDefinition
from pydantic_core import to_json

__all__ = ["OpenAIChat"]

MAX_KNOWN = 2048
"""Schemas that are remembered; those that were used last."""


class OpenAIChat(OpenAIChatModel):
    """A model with OpenAI's chat completions."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._known: OrderedDict[bytes, ToolDefinition] = OrderedDict()

    def customize_request_parameters(
        self, model_request_parameters: ModelRequestParameters
    ) -> ModelRequestParameters:
        """As the library does, with the schemas that are known already."""
        tools = model_request_parameters.function_tools
        keys = [to_json((each.name, each.strict, each.parameters_json_schema)) for each in tools]
        new = {key: tool for key, tool in zip(keys, tools, strict=True) if key not in self._known}
        made = super().customize_request_parameters(
            replace(model_request_parameters, function_tools=list(new.values()))
        )
        fitted = dict(zip(new, made.function_tools, strict=True))
        fitted |= {key: self._known[key] for key in keys if key not in fitted}
        self._remember(fitted)
        function_tools = [
            replace(
                tool,
                parameters_json_schema=fitted[key].parameters_json_schema,
                strict=fitted[key].strict,
            )
            for key, tool in zip(keys, tools, strict=True)
        ]
        return replace(made, function_tools=function_tools)

    def _remember(self, fitted: dict[bytes, ToolDefinition]) -> None:
        for key, tool in fitted.items():
            self._known[key] = tool
            self._known.move_to_end(key)
        while len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
