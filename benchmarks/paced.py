"""A client that asks at a pace, as people do: how long each of its requests takes."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

PAUSE_SECONDS = 0.002
"""Between an answer and the next request."""
_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Request(NamedTuple):
    """A request of the modern era.

    Attributes:
        body: its body.
        headers: its headers, as a server of that era wants them.
    """

    body: bytes
    headers: Mapping[str, str]

    def alone(self) -> bytes:
        """The request over HTTP, on a connection that ends with the answer."""
        lines = [f"{name}: {value}" for name, value in self.headers.items()]
        sized = f"content-length: {len(self.body)}"
        head = ["POST /mcp HTTP/1.1", "host: localhost", "connection: close", sized, *lines]
        return "\r\n".join([*head, "", ""]).encode() + self.body


def request(method: str, name: str = "", arguments: Mapping[str, Any] | None = None) -> Request:
    """Make a request.

    Args:
        method: such as ``tools/call``.
        name: the tool's name, where one is called.
        arguments: what it is called with.
    """
    named = {"name": name, "arguments": dict(arguments or {})} if name else {}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**named, "_meta": _META}}
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": _VERSION,
        "mcp-method": method,
    }
    return Request(json.dumps(message).encode(), headers | ({"mcp-name": name} if name else {}))


class Client:
    """One kept connection to a portal.

    Args:
        port: where the portal listens on 127.0.0.1.
    """

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def answer(self, asked: Request) -> bytes:
        """The body of the answer to a request."""
        self._connection.request("POST", "/mcp", asked.body, dict(asked.headers))
        return self._connection.getresponse().read()

    def ask(self, asked: Request, expected: bytes) -> float:
        """Ask, and pause.

        Args:
            asked: the request.
            expected: what its answer holds.

        Returns:
            The seconds until all of the answer was there.

        Raises:
            RuntimeError: it is another answer.
        """
        began = time.perf_counter()
        answer = self.answer(asked)
        took = time.perf_counter() - began
        if expected not in answer:
            raise RuntimeError(answer[:300])
        time.sleep(PAUSE_SECONDS)
        return took


def p99(seconds: list[float]) -> float:
    """What ninety-nine of a hundred took no longer than."""
    return sorted(seconds)[int(len(seconds) * 0.99)]
