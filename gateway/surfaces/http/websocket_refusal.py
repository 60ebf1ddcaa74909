"""Answers a WebSocket's handshake over HTTP, where it comes to no WebSocket."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from starlette.types import Scope, Send

_EXTENSION = "websocket.http.response"
_CLOSE_CODE_BASE = 4000
"""What is added to an HTTP status to make a close code for servers that can send no response."""


def over_http(scope: Scope, send: Send) -> Send:
    """A way to send an HTTP response, whatever the scope's type.

    Args:
        scope: of an HTTP request, or of a WebSocket that is not accepted yet.
        send: its ASGI channel. A WebSocket's takes what is none of a response as it is.
    """
    if scope["type"] != "websocket":
        return send
    can = _EXTENSION in scope.get("extensions", {})

    async def sent(message: MutableMapping[str, Any]) -> None:
        kind = message["type"]
        if not kind.startswith("http.response."):
            await send(message)
        elif can:
            await send({**message, "type": "websocket." + kind})
        elif kind == "http.response.start":
            await send({"type": "websocket.close", "code": _CLOSE_CODE_BASE + message["status"]})

    return sent
