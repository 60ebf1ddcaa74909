"""A server of an older SDK: it knows nothing of 2026-07-28, and says so as those do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class LegacyOnly:
    """Hides the newer era of an ASGI application.

    Args:
        app: the application, which speaks both.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = scope.get("headers", ())
        versions = [value for name, value in headers if name == b"mcp-protocol-version"]
        if versions != [b"2026-07-28"]:
            await self._app(scope, receive, send)
            return
        message: Mapping[str, Any] = await receive()
        error = {"code": -32600, "message": "Bad Request: unsupported protocol version"}
        number = json.loads(message.get("body") or b"{}").get("id")
        body = json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()
        said = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 400, "headers": said})
        await send({"type": "http.response.body", "body": body})
