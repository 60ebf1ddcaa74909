"""A plugin with one of everything, as the official conformance suite expects to find it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as mcp

from gateway.contract import (
    Change,
    Host,
    Offer,
    Plugin,
    PluginConfig,
    Prompt,
    Resource,
    ResourceTemplate,
    Skill,
    SkillFile,
    Tool,
    ToolFailed,
    hookimpl,
)
from tests.conformance.followed import followed_tools, jobs
from tests.conformance.unfinished import (
    Round,
    asking_tool,
    elicit,
    in_rounds,
    need,
    obj,
    sample,
    unfinished_tools,
)

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5Er"
    "kJggg=="
)
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="


def _text(text: str) -> mcp.TextContent:
    return mcp.TextContent(text=text)


def _embedded(uri: str, mime_type: str, text: str) -> mcp.EmbeddedResource:
    return mcp.EmbeddedResource(
        resource=mcp.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    )


def content_tools() -> list[Tool]:
    async def test_simple_text() -> str:
        """Returns plain text."""
        return "This is a simple text response for testing."

    async def test_image_content() -> list[Any]:
        """Returns an image."""
        return [mcp.ImageContent(data=PNG, mime_type="image/png")]

    async def test_audio_content() -> list[Any]:
        """Returns a sound."""
        return [mcp.AudioContent(data=WAV, mime_type="audio/wav")]

    async def test_embedded_resource() -> list[Any]:
        """Returns an embedded resource."""
        text = "This is an embedded resource content."
        return [_embedded("test://embedded-resource", "text/plain", text)]

    async def test_multiple_content_types() -> list[Any]:
        """Returns text, an image and an embedded resource."""
        data = '{"test":"data","value":123}'
        return [
            _text("Multiple content types test:"),
            mcp.ImageContent(data=PNG, mime_type="image/png"),
            _embedded("test://mixed-content-resource", "application/json", data),
        ]

    async def test_error_handling() -> str:
        """Always fails."""
        raise ToolFailed("intended", "This tool intentionally returns an error for testing")

    return [
        Tool.of(each)
        for each in (
            test_simple_text,
            test_image_content,
            test_audio_content,
            test_embedded_resource,
            test_multiple_content_types,
            test_error_handling,
        )
    ]


def talking_tools(host: Host) -> list[Tool]:
    async def test_tool_with_logging() -> str:
        """Sends three log messages."""
        for message in ("started", "processing data", "completed"):
            word = "Tool" if message == "processing data" else "Tool execution"
            await host.exchange().log("info", f"{word} {message}")
            await asyncio.sleep(0.05)
        return "Tool with logging executed successfully"

    async def test_logging_tool() -> str:
        """Sends a log message, if the client wants any."""
        await host.exchange().log("info", "A log message")
        return "Logged."

    async def test_tool_with_progress() -> str:
        """Reports progress three times."""
        for done in (0, 50, 100):
            await host.exchange().progress(done, 100, f"Completed step {done} of 100")
            await asyncio.sleep(0.05)
        return "Done."

    async def test_reconnection() -> str:
        """Takes longer than its client's connection lasts."""
        await asyncio.sleep(1.5)
        return "Reconnection test completed"

    async def test_trigger_tool_change() -> str:
        """Says that the tool list has changed."""
        host.changed(Change("everything", "tools"))
        return "Told."

    async def test_trigger_prompt_change() -> str:
        """Says that the prompt list has changed."""
        host.changed(Change("everything", "prompts"))
        return "Told."

    return [
        Tool.of(each)
        for each in (
            test_tool_with_logging,
            test_logging_tool,
            test_tool_with_progress,
            test_reconnection,
            test_trigger_tool_change,
            test_trigger_prompt_change,
        )
    ]


_DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_PLAIN = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
_ENUMS = {
    "untitledSingle": {"type": "string", "enum": _PLAIN},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _PLAIN}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}


def asking_tools(host: Host) -> list[Tool]:
    def ask(now: Round, message: str, schema: Mapping[str, Any]) -> Any:
        if now.given("form"):
            answer = now.answers["form"]
            content = json.dumps(answer.get("content", {}))
            return f"Elicitation completed: action={answer['action']}, content={content}"
        params = {"mode": "form", "message": message, "requestedSchema": schema}
        return need({"form": {"method": "elicitation/create", "params": params}})

    async def test_sampling(now: Round) -> Any:
        """Asks the client's model."""
        if now.given("model"):
            return f"LLM response: {now.answers['model']['content']['text']}"
        return need({"model": sample(now.args["prompt"], 100)})

    async def test_elicitation(now: Round) -> Any:
        """Asks the person."""
        wanted = obj(username={"type": "string"}, email={"type": "string"})
        return ask(now, now.args["message"], wanted)

    async def test_elicitation_sep1034_defaults(now: Round) -> Any:
        """Asks with defaults."""
        return ask(now, "Please review", {"type": "object", "properties": _DEFAULTS})

    async def test_elicitation_sep1330_enums(now: Round) -> Any:
        """Asks with every kind of choice."""
        return ask(now, "Please choose", {"type": "object", "properties": _ENUMS})

    return [
        asking_tool(host, test_sampling, prompt={"type": "string"}),
        asking_tool(host, test_elicitation, message={"type": "string"}),
        asking_tool(host, test_elicitation_sep1034_defaults),
        asking_tool(host, test_elicitation_sep1330_enums),
    ]


_SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


async def _echo(args: Any, caller: Any) -> str:
    return json.dumps(args)


def schema_tools() -> list[Tool]:
    region = {"type": "string", "x-mcp-header": "Region"}
    return [
        Tool(
            name="json_schema_2020_12_tool",
            summary="Has a schema with every keyword.",
            run=_echo,
            input_schema=_SCHEMA_2020_12,
        ),
        Tool(
            name="test_x_mcp_header",
            summary="Mirrors an argument in a header.",
            run=_echo,
            input_schema={"type": "object", "properties": {"region": region}},
        ),
    ]


def resources() -> list[Resource]:
    async def text(caller: Any) -> str:
        return "This is the content of the static text resource."

    async def binary(caller: Any) -> bytes:
        return base64.b64decode(PNG)

    async def watched(caller: Any) -> str:
        return "Watched resource content"

    return [
        Resource("test://static-text", "static-text", "A text.", text),
        Resource("test://static-binary", "static-binary", "An image.", binary, "image/png"),
        Resource("test://watched-resource", "watched", "Can be followed.", watched),
    ]


async def _template(variables: Mapping[str, str], caller: Any) -> str:
    number = variables["id"]
    data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
    return json.dumps(data)


def prompts(host: Host) -> list[Prompt]:
    async def test_simple_prompt() -> str:
        """A prompt without arguments."""
        return "This is a simple prompt for testing."

    async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A prompt with arguments.

        Args:
            arg1: the first.
            arg2: the second.
        """
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    async def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:  # noqa: N803
        """A prompt with a resource.

        Args:
            resourceUri: the resource.
        """
        resource = _embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
        ask = _text("Please process the embedded resource above.")
        return [mcp.PromptMessage(role="user", content=each) for each in (resource, ask)]

    async def test_prompt_with_image() -> list[Any]:
        """A prompt with an image."""
        image = mcp.ImageContent(data=PNG, mime_type="image/png")
        ask = _text("Please analyze the image above.")
        return [mcp.PromptMessage(role="user", content=each) for each in (image, ask)]

    async def test_input_required_result_prompt() -> Any:
        """A prompt that needs to know more."""

        async def run(now: Round) -> Any:
            context = (now.answers.get("user_context", {}).get("content") or {}).get("context")
            if context is None:
                question = elicit("What context should I use?", context={"type": "string"})
                return need({"user_context": question})
            return f"Use this context: {context}"

        return await in_rounds(host, run, {})

    async def first_argument(typed: str, others: Mapping[str, str], caller: Any) -> list[str]:
        return [each for each in ("paris", "park", "party") if each.startswith(typed)]

    return [
        Prompt.of(each, name=each.__name__, complete={"arg1": first_argument})
        for each in (
            test_simple_prompt,
            test_prompt_with_arguments,
            test_prompt_with_embedded_resource,
            test_prompt_with_image,
            test_input_required_result_prompt,
        )
    ]


_SKILL = {
    "SKILL.md": b"""---
name: pdf-forms
description: Fill in the forms of PDF files.
license: Apache-2.0
metadata:
  version: 1.2.0
---

Read references/FIELDS.md, then run scripts/fill.py.
""",
    "references/FIELDS.md": b"# Fields\n",
    "scripts/fill.py": b"print('filled')\n",
    "assets/stamp.png": base64.b64decode(PNG),
}
_FRONTMATTER = {
    "name": "pdf-forms",
    "description": "Fill in the forms of PDF files.",
    "license": "Apache-2.0",
    "metadata": {"version": "1.2.0"},
}


def skills() -> list[Skill]:
    async def read(path: str, caller: Any) -> bytes:
        return _SKILL[path]

    files = [
        SkillFile(path, hashlib.sha256(raw).hexdigest(), len(raw)) for path, raw in _SKILL.items()
    ]
    return [Skill("house/pdf-forms", _FRONTMATTER, files, read)]


@asynccontextmanager
async def _open(config: PluginConfig, host: Host) -> AsyncGenerator[Offer]:
    yield Offer(
        tools=[
            *content_tools(),
            *talking_tools(host),
            *asking_tools(host),
            *unfinished_tools(host),
            *followed_tools(host),
            *schema_tools(),
        ],
        resources=resources(),
        templates=[
            ResourceTemplate("test://template/{id}/data", "template", "Data by id.", _template)
        ],
        prompts=prompts(host),
        skills=skills(),
        jobs=jobs(),
    )


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("everything", "One of everything, for the conformance suite.", _open)
