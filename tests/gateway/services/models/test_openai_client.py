"""What is sent is what the library would send, also where it is not walked."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from openai import AsyncOpenAI

from gateway.services.models.openai_client import PlainOpenAI

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "look", "description": "It looks.", "parameters": {"type": "object"}},
}
MESSAGES: list[Any] = [{"role": "user", "content": "What colour is the sky?"}]
ASKED: list[dict[str, Any]] = [
    {"model": "m", "messages": MESSAGES, "tools": [TOOL], "tool_choice": "auto"},
    {"model": "m", "messages": MESSAGES},
    {"model": "m", "messages": MESSAGES, "extra_body": {"enable_thinking": False}},
    {"model": "m", "messages": MESSAGES, "extra_body": {"messages": []}},
    {"model": "m", "messages": MESSAGES, "extra_headers": {"x-y": "z"}, "temperature": 0.5},
]
ANSWER: dict[str, Any] = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Blue."}}


async def sent(kind: type[AsyncOpenAI], asked: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """The body and the headers of a request, by one client or the other."""
    requests = list[httpx2.Request]()

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(200, json={**ANSWER, "choices": [CHOICE]})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
        client = kind(api_key="unused", base_url="http://127.0.0.1:9/v1", http_client=http)
        found = await client.with_options(max_retries=0).chat.completions.create(**asked)
        assert found.choices[0].message.content == "Blue."
    return json.loads(requests[0].content), requests[0].headers.get("x-y")


async def test_the_request_is_the_librarys() -> None:
    for asked in ASKED:
        assert await sent(PlainOpenAI, asked) == await sent(AsyncOpenAI, asked)
