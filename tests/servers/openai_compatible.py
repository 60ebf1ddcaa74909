"""A server with OpenAI's chat completions on loopback, whose model follows rules.

It reads what is asked for by JSON schema, as a tool's or as ``response_format``, and answers with
a value that fits; a test scripts it to stream, call tools, fail, throttle and lie. It counts what
it was asked and what it has billed, so that a portal's own count can be held against it.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from gateway.testing.model_answers import fitting, wanted
from tests.servers.serving import bound, serving

KEY = "sk-test-0123456789abcdefghijklmnop"
"""The key that the server takes, where it takes only one."""


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool that the model makes."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True)
class Reply:
    """What the model answers once.

    Attributes:
        value: the answer by the schema that was sent; None makes one that fits.
        text: free text, as in a conversation; it goes before the value.
        calls: tools that the model calls, by the names that it was offered.
        status: of the response; anything but 200 answers with ``body``.
        headers: more headers.
        body: the whole body, in place of an answer.
        media: the body's content type.
        model: as which model it answers; None is the one that was asked.
        finish: why it ended; None is what fits.
        usage: what it bills, as ``usage`` of the API; None counts words, ``{}`` says nothing.
        refusal: the model's refusal.
        delay_s: seconds before the first byte.
        pause_s: seconds between two pieces of a stream.
        cut: how many bytes are sent before the connection breaks, or None.
        hold: awaited before the answer, for what has to happen meanwhile.
    """

    value: Any = None
    text: str | None = None
    calls: Sequence[ToolCall] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | bytes | None = None
    media: str = "application/json"
    model: str | None = None
    finish: str | None = None
    usage: Mapping[str, Any] | None = None
    refusal: str | None = None
    delay_s: float = 0.0
    pause_s: float = 0.0
    cut: int | None = None
    hold: threading.Event | None = None


Rule = Callable[[Mapping[str, Any]], Reply | None]
"""Says what to answer to a request's body, or None where another rule does."""


def throttled(retry_after: str | None = "1") -> Reply:
    """Too many requests."""
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return failing(429, "rate_limit_exceeded", "Rate limit reached.", headers)


def failing(
    status: int, code: str = "server_error", message: str = "It broke.", headers: Any = None
) -> Reply:
    """An error as OpenAI has them."""
    body = json.dumps({"error": {"message": message, "type": code, "code": code, "param": None}})
    return Reply(status=status, body=body, headers=headers or {})


def page() -> Reply:
    """A page for people, as a wrong address answers."""
    return Reply(body="<!doctype html><title>Welcome</title>", media="text/html")


@dataclass(frozen=True)
class Asked:
    """A request that came.

    Attributes:
        path: its path.
        headers: its headers, with lower-case names.
        body: what was asked.
        billed: what it was billed, once it was answered; None where it failed.
    """

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    billed: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def call(self) -> str | None:
        """The id under which the portal meters the call."""
        return self.headers.get("x-client-request-id")

    def texts(self) -> str:
        """All that the model was told, in one text."""
        return json.dumps(self.body.get("messages"), ensure_ascii=False)


class OpenAICompatible:
    """The server; ``with OpenAICompatible() as server``.

    Args:
        key: the key that it takes; None takes any.
        models: the models it has; None has any.

    Attributes:
        url: what goes under ``url`` of a provider.
        asked: every request for an answer, in order.
        streaming: streams that are read now.
        at_once: the most requests that were answered at the same time.
        listing: what it answers where it is asked which models it has, or None.
    """

    path, base = "/v1/chat/completions", "/v1"
    """Where answers are asked for, and what the client adds its paths to."""

    def __init__(self, *, key: str | None = None, models: Sequence[str] | None = None) -> None:
        self.key, self.models = key, models
        self.url = ""
        self.asked: list[Asked] = []
        self.at_once = 0
        self.listing: Reply | None = None
        self.streaming = 0
        self._now = 0
        self._rules: list[Rule] = []
        self._script: list[Reply] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._serving = self.served()
        self._serving.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._serving.__exit__(*error)

    @contextmanager
    def served(self, port: int = 0) -> Iterator[str]:
        """Answer at a port of loopback for as long as the block lasts; gives ``url``."""
        app = Starlette(
            routes=[
                Route(self.path, self._complete, methods=["POST"]),
                Route("/v1/models", self._list),
            ]
        )
        with serving(app, bound(port)) as address:
            self.url = f"{address}{self.base}"
            yield self.url

    def then(self, *replies: Reply) -> Self:
        """Answer the next requests so, one after the other; rules and schemas come after that."""
        with self._lock:
            self._script += replies
        return self

    def rule(self, rule: Rule) -> Self:
        """Answer by a rule, where it has an answer; the latest rule is asked first."""
        self._rules.insert(0, rule)
        return self

    @property
    def billed(self) -> dict[str, int]:
        """All that was billed: ``calls``, ``prompt_tokens`` and ``completion_tokens``."""
        bills = [bill for asked in self.asked for bill in asked.billed]
        names = ("prompt_tokens", "completion_tokens")
        sums = {name: sum(int(bill.get(name, 0)) for bill in bills) for name in names}
        return {"calls": len(bills), **sums}

    async def _list(self, request: Request) -> Response:
        if (refused := self._refused(request)) is not None:
            return refused
        if self.listing is not None:
            return self.response(self.listing)
        data = [{"id": each, "object": "model"} for each in self.models or ()]
        return JSONResponse({"object": "list", "data": data})

    def _refused(self, request: Request) -> Response | None:
        sent = self.sent_key(request)
        if self.key is None or sent == self.key:
            return None
        message = f"Incorrect API key provided: {sent}."
        return self.response(failing(401, "invalid_api_key", message))

    # How this API differs from others of its kind.

    def sent_key(self, request: Request) -> str:
        """The key that came."""
        return request.headers.get("authorization", "").removeprefix("Bearer ")

    def read(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """What was asked, as OpenAI's API has it."""
        return body

    def written(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """An answer of OpenAI's, as this API has it."""
        return answer

    def streamed(
        self, answer: Mapping[str, Any], body: Mapping[str, Any], reply: Reply
    ) -> AsyncIterator[bytes]:
        """The answer in pieces."""
        return _streamed(answer, body, reply)

    def response(self, reply: Reply) -> Response:
        """What is no answer."""
        kind = HTMLResponse if reply.media == "text/html" else Response
        headers = dict(reply.headers)
        return kind(reply.body or "", reply.status, headers, media_type=reply.media)

    async def _complete(self, request: Request) -> Response:
        if (refused := self._refused(request)) is not None:
            return refused
        body = self.read(json.loads(await request.body()))
        asked = Asked(request.url.path, dict(request.headers), body)
        with self._lock:
            self.asked.append(asked)
            self._now += 1
            self.at_once = max(self.at_once, self._now)
        try:
            return await self._answered(asked)
        finally:
            with self._lock:
                self._now -= 1

    async def _answered(self, asked: Asked) -> Response:
        reply = self._reply(asked.body)
        if reply.hold is not None:
            await asyncio.to_thread(reply.hold.wait, 60)
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        if reply.body is not None or reply.status != 200:
            return self.response(reply)
        if self.models is not None and asked.body["model"] not in self.models:
            named = asked.body["model"]
            message = f"The model `{named}` does not exist or you do not have access to it."
            return self.response(failing(404, "model_not_found", message))
        answer = completion(asked.body, reply)
        if answer.get("usage"):
            asked.billed.append(answer["usage"])
        if asked.body.get("stream"):
            return StreamingResponse(
                self._sent(_cut(self.streamed(answer, asked.body, reply), reply.cut)),
                media_type="text/event-stream",
                headers=dict(reply.headers),
            )
        data = json.dumps(self.written(answer)).encode()
        if reply.cut is None:
            return Response(data, media_type="application/json", headers=dict(reply.headers))
        headers = {"content-length": str(len(data)), **reply.headers}
        return StreamingResponse(
            _cut(_whole(data), reply.cut), media_type="application/json", headers=headers
        )

    async def _sent(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        self.streaming += 1
        try:
            async for piece in pieces:
                yield piece
        finally:
            self.streaming -= 1

    def _reply(self, body: Mapping[str, Any]) -> Reply:
        with self._lock:
            if self._script:
                return self._script.pop(0)
        return next((found for rule in self._rules if (found := rule(body))), Reply())


def completion(body: Mapping[str, Any], reply: Reply) -> dict[str, Any]:
    """A whole answer as the API has it."""
    message, finish = _message(body, reply)
    answer: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": reply.model or body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish or finish}],
    }
    usage = counted(body, message) if reply.usage is None else dict(reply.usage)
    return answer | ({"usage": usage} if usage else {})


def counted(body: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, int]:
    """What is billed: a token for each word."""
    prompt = len(json.dumps(body.get("messages")).split())
    answer = len(json.dumps(message).split())
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
    }


def _message(body: Mapping[str, Any], reply: Reply) -> tuple[dict[str, Any], str]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.refusal is not None:
        return message | {"refusal": reply.refusal}, "stop"
    calls = list(reply.calls)
    schema, tool = wanted(body)
    value = reply.value
    if value is None and reply.text is None and not calls and schema is not None:
        value = fitting(schema)
    if value is not None and tool is not None:
        calls.append(ToolCall(tool, value))
    elif value is not None:
        message["content"] = value if isinstance(value, str) else json.dumps(value)
    if not calls:
        return message | {"content": message["content"] or ""}, "stop"
    message["tool_calls"] = [_call(each, number) for number, each in enumerate(calls)]
    return message, "tool_calls"


def _call(call: ToolCall, number: int) -> dict[str, Any]:
    given = call.arguments
    arguments = given if isinstance(given, str) else json.dumps(given)
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id or f"call_{number}", "type": "function", "function": function}


async def _streamed(
    answer: Mapping[str, Any], body: Mapping[str, Any], reply: Reply
) -> AsyncIterator[bytes]:
    for piece in _deltas(answer, body):
        yield f"data: {json.dumps(piece)}\n\n".encode()
        if reply.pause_s:
            await asyncio.sleep(reply.pause_s)
    yield b"data: [DONE]\n\n"


def _deltas(answer: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The pieces of an answer: a word each, and each call of a tool in two."""
    choice = answer["choices"][0]
    message = choice["message"]
    common = {key: answer[key] for key in ("id", "created", "model")}
    common["object"] = "chat.completion.chunk"

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    if message.get("refusal"):
        yield chunk({"refusal": message["refusal"]})
    for word in re.findall(r"\S+\s*|\s+", message["content"] or ""):
        yield chunk({"content": word})
    for number, call in enumerate(message.get("tool_calls", ())):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        begin = {"name": name, "arguments": ""}
        yield chunk({"tool_calls": [{**call, "index": number, "function": begin}]})
        for part in (arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": part}}]})
    yield chunk({}, choice["finish_reason"])
    if (body.get("stream_options") or {}).get("include_usage") and "usage" in answer:
        yield {**common, "choices": [], "usage": answer["usage"]}


async def _whole(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def _cut(pieces: AsyncIterator[bytes], at: int | None) -> AsyncIterator[bytes]:
    """The pieces, up to so many bytes; then the connection breaks."""
    async for piece in pieces:
        if at is None:
            yield piece
            continue
        yield piece[:at]
        at -= len(piece)
        if at <= 0:
            raise ConnectionAbortedError("the stand-in breaks off")
