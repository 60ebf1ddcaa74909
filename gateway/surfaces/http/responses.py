"""Whole JSON responses, as every surface sends them."""

from __future__ import annotations

from starlette.types import Send

Headers = tuple[tuple[bytes, bytes], ...]

_JSON = (b"content-type", b"application/json")


async def send_json(send: Send, body: bytes, status: int = 200, headers: Headers = ()) -> None:
    """Send a whole JSON response; an empty body has no content type."""
    sized = (b"content-length", str(len(body)).encode())
    kind = (_JSON,) if body else ()
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*kind, sized, *headers],
        }
    )
    await send({"type": "http.response.body", "body": body})
