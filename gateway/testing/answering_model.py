"""A language model for the tests of plugins: it answers by the schema that it is sent.

It stands behind a real address on loopback, so that all of the portal's own is tested with it:
what is taken out of the prompt, what is checked of the answer, what is metered.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from gateway.testing.model_answers import fitting, wanted

__all__ = ["AnsweringModel"]

Answer = Callable[[str], Mapping[str, Any] | None]


class AnsweringModel:
    """A model on loopback; ``with AnsweringModel() as model``.

    ``open_test_portal(plugin, config=model.config)`` gives a portal that has it in every role.

    Args:
        answer: says what it answers to a prompt, as JSON values; None, or no function at all, is
            the smallest value that fits the schema.

    Attributes:
        prompts: what it was asked, in order.
    """

    def __init__(self, answer: Answer = lambda prompt: None) -> None:
        self.prompts: list[str] = []
        self._answer = answer
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        """Begin to answer."""
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def config(self) -> dict[str, Any]:
        """What ``portal.yaml`` says of it."""
        url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        roles = dict.fromkeys(("simple", "complex", "chat"), "test/answering")
        free = {"answering": {"input": 0, "output": 0}}
        providers = {"test": {"kind": "compatible", "url": url, "prices": free}}
        return {"services": {"models": {"providers": providers, **roles}}}

    def completion(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What it answers to a request of OpenAI's chat completions."""
        texts = [each["content"] for each in body["messages"] if each["role"] == "user"]
        prompt = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in texts)
        self.prompts.append(prompt)
        schema, tool = wanted(body)
        found = self._answer(prompt)
        value = json.dumps(fitting(schema or {}) if found is None else dict(found))
        message: dict[str, Any] = {"role": "assistant", "content": None if tool else value}
        if tool:
            function = {"name": tool, "arguments": value}
            message["tool_calls"] = [{"id": "call_0", "type": "function", "function": function}]
        counted = (len(prompt.split()), len(value.split()))
        return {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": counted[0],
                "completion_tokens": counted[1],
                "total_tokens": sum(counted),
            },
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                """The list of models."""
                self._send({"object": "list", "data": [{"id": "answering", "object": "model"}]})

            def do_POST(self) -> None:
                """An answer."""
                size = int(self.headers["content-length"])
                self._send(model.completion(json.loads(self.rfile.read(size))))

            def _send(self, value: Mapping[str, Any]) -> None:
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """Write nothing."""

        return Handler
