"""The event streams of the MCP wire: how a message is written, and what every stream begins with.

Source: MCP 2025-11-25, "Streamable HTTP"; the WHATWG HTML standard, "Server-sent events".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json
from starlette.types import Receive

from gateway.pipeline.json_chunks import B, around
from gateway.pipeline.json_text import UNSENDABLE, sendable

MAX_WAITING_MESSAGES = 1024
"""Messages that may wait for a slow reader; then nothing more is taken for it."""
RETRY_MS = 1000
"""Milliseconds after which a client is to come back for a stream whose connection has ended."""

SSE_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
PING = b": ping\n\n"


def encoded(message: Mapping[str, Any]) -> bytes:
    """A JSON-RPC message as JSON."""
    try:
        return to_json(message, inf_nan_mode="null")
    except UNSENDABLE:
        return to_json(sendable(message), inf_nan_mode="null")


def event(data: B, event_id: str = "") -> B:
    """A JSON-RPC message, written out, as a server-sent event.

    Args:
        data: the message.
        event_id: what the client says to go on after it, where it can.
    """
    head = f"id: {event_id}\n".encode() if event_id else b""
    return around(head + b"event: message\ndata: ", data, b"\n\n")


def priming(event_id: str) -> bytes:
    """The event that says nothing but from where to go on, and when to come back (SEP-1699)."""
    return f"id: {event_id}\nretry: {RETRY_MS}\ndata: \n\n".encode()


async def until_left(receive: Receive) -> None:
    """Return once the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
