"""A server with Anthropic's Messages API on loopback, whose model follows the same rules.

It reads a request as OpenAI's chat completions have it, and writes the answer as the Messages API
does: blocks of text and tools, its own events in a stream, its own errors. So what a test scripts
for one stand-in, and counts at it, holds for the other one.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tests.servers.openai_compatible import OpenAICompatible, Reply

OVERLOADED = Reply(
    status=529,
    body=json.dumps(
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    ),
)
"""What it answers where it has too much to do: a status of its own."""
_STOPS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
}


class AnthropicCompatible(OpenAICompatible):
    """The server; ``with AnthropicCompatible() as server``."""

    path, base = "/v1/messages", ""

    def sent_key(self, request: Request) -> str:
        """The key that came, in Anthropic's own header; its version has to come along."""
        assert request.headers.get("anthropic-version"), "Anthropic asks for a version."
        return request.headers.get("x-api-key", "")

    def read(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """A request of the Messages API, as OpenAI's chat completions have it."""
        assert body["max_tokens"] > 0, "Anthropic asks how long an answer may be."
        told = [message for each in body["messages"] for message in _messages(each)]
        if body.get("system"):
            told.insert(0, {"role": "system", "content": _text(body["system"])})
        read = {"model": body["model"], "messages": told, "stream": body.get("stream", False)}
        read["stream_options"] = {"include_usage": True}
        if tools := [_tool(each) for each in body.get("tools", ())]:
            read |= {"tools": tools, "tool_choice": _choice(body.get("tool_choice", {}))}
        if (form := (body.get("output_config") or {}).get("format")) is not None:
            named = {"name": "answer", "schema": form["schema"]}
            read["response_format"] = {"type": "json_schema", "json_schema": named}
        return read

    def written(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """An answer as the Messages API has it."""
        choice = answer["choices"][0]
        message = choice["message"]
        refused = message.get("refusal")
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": answer["model"],
            "content": [*_blocks(message)],
            "stop_reason": "refusal" if refused else _STOPS[choice["finish_reason"]],
            "stop_sequence": None,
            "usage": _usage(answer.get("usage", {})),
        }

    async def streamed(
        self, answer: Mapping[str, Any], body: Mapping[str, Any], reply: Reply
    ) -> AsyncIterator[bytes]:
        """The answer as events of a stream, each with its name."""
        for event in _events(self.written(answer)):
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            if reply.pause_s:
                await asyncio.sleep(reply.pause_s)

    def response(self, reply: Reply) -> Response:
        """What is no answer; an error of OpenAI's becomes the one of Anthropic's that it is."""
        if reply.status in _ERRORS and isinstance(reply.body, str) and '"error"' in reply.body:
            told = json.loads(reply.body)["error"]
            message = told["message"]
            if told["code"] == "context_length_exceeded":
                message = "prompt is too long: 208310 tokens > 200000 maximum"
            status = reply.status
            if told["code"] == "insufficient_quota":  # Anthropic has another status for it
                status, message = 400, "Your credit balance is too low to access the API."
            error = {"type": _ERRORS[status], "message": message}
            body = json.dumps({"type": "error", "error": error, "request_id": "req_1"})
            reply = Reply(status=status, headers=reply.headers, body=body)
        return super().response(reply)


def _messages(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A message of the Messages API as one or several of chat completions."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    calls = [_call(each) for each in blocks if each["type"] == "tool_use"]
    text = _text(blocks)
    for each in blocks:
        if each["type"] == "tool_result":
            said = _text(each.get("content") or "")
            yield {"role": "tool", "tool_call_id": each["tool_use_id"], "content": said}
    if text or calls:
        made = {"role": message["role"], "content": text}
        yield made | ({"tool_calls": calls} if calls else {})


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(each.get("text", "") for each in content if each.get("type") == "text")


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": block["name"], "arguments": json.dumps(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "parameters": tool["input_schema"]}
    return {"type": "function", "function": function | {"description": tool.get("description")}}


def _choice(choice: Mapping[str, Any]) -> Any:
    if choice.get("type") == "tool":
        return {"type": "function", "function": {"name": choice["name"]}}
    return {"any": "required", "none": "none"}.get(choice.get("type", "auto"), "auto")


def _blocks(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    text = message.get("refusal") or message.get("content")
    if text:
        yield {"type": "text", "text": text}
    for number, each in enumerate(message.get("tool_calls", ())):
        function = each["function"]
        try:
            given = json.loads(function["arguments"])
        except ValueError:  # what a model writes that lies is text, also here
            given = function["arguments"]
        id = f"toolu_{number}_{each['id']}"
        yield {"type": "tool_use", "id": id, "name": function["name"], "input": given}


def _usage(usage: Mapping[str, Any]) -> dict[str, int]:
    """What is billed; input tokens are those that were not cached."""
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return {
        "input_tokens": usage.get("prompt_tokens", 0) - cached,
        "output_tokens": usage.get("completion_tokens", 0),
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
    }


def _events(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    counted = message["usage"]
    begun = {
        **message,
        "content": [],
        "stop_reason": None,
        "usage": {**counted, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": begun}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        is_text = block["type"] == "text"
        empty = {**block, "text": ""} if is_text else {**block, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": counted}
    yield {"type": "message_stop"}


def _deltas(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A block in pieces: a word each, and the input of a tool in two."""
    if block["type"] == "text":
        for word in re.findall(r"\S+\s*|\s+", block["text"]):
            yield {"type": "text_delta", "text": word}
        return
    given = block["input"]
    text = given if isinstance(given, str) else json.dumps(given)
    for part in (text[: len(text) // 2], text[len(text) // 2 :]):
        yield {"type": "input_json_delta", "partial_json": part}
