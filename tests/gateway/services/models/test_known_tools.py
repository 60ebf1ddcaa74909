"""A tool's schema is fitted to the API once, and each request offers just its own tools."""

from __future__ import annotations

from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

from gateway.services.models import known_tools
from gateway.services.models.known_tools import OpenAIChat


def tool(name: str, field: str = "a", description: str = "It is one.") -> ToolDefinition:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field: {"type": "string", "title": "T", "default": "x"}},
        "$defs": {"Unused": {"type": "integer"}},
    }
    return ToolDefinition(
        name=name, parameters_json_schema=schema, description=description, strict=False
    )


def offered(*tools: ToolDefinition) -> ModelRequestParameters:
    return ModelRequestParameters(function_tools=list(tools))


def model(kind: type[OpenAIChatModel]) -> OpenAIChatModel:
    client = AsyncOpenAI(api_key="unused", base_url="http://127.0.0.1:9/v1")
    return kind("gpt-5", provider=OpenAIProvider(openai_client=client))


def test_what_is_sent_is_what_the_library_would_send() -> None:
    ours, theirs = model(OpenAIChat), model(OpenAIChatModel)
    for some in (("a", "b"), ("b",), (), ("c", "a")):
        asked = offered(*map(tool, some))
        assert ours.customize_request_parameters(asked) == theirs.customize_request_parameters(
            asked
        )
    other = offered(tool("a", "another"), tool("b", description="It is another."))
    assert ours.customize_request_parameters(other) == theirs.customize_request_parameters(other)


def test_a_schema_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    walked, walk = list[str](), OpenAIJsonSchemaTransformer.walk

    def noting(self: Any) -> Any:
        walked.append("")
        return walk(self)

    ours = model(OpenAIChat)
    transformer = ours.profile["json_schema_transformer"]
    monkeypatch.setattr(transformer, "walk", noting)
    for _ in range(3):
        ours.customize_request_parameters(offered(tool("a"), tool("b")))
    assert len(walked) == 2


def test_no_more_are_remembered_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_tools, "MAX_KNOWN", 3)
    ours = OpenAIChat("gpt-5", provider=model(OpenAIChatModel)._provider)
    for number in range(10):
        made = ours.customize_request_parameters(offered(tool(f"t{number}"), tool("a")))
        assert [each.name for each in made.function_tools] == [f"t{number}", "a"]
    assert len(ours._known) == 3
