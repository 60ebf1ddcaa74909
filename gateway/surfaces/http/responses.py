"""Whole JSON responses, as every surface sends them."""

from __future__ import annotations

import asyncio

from starlette.types import Send

from gateway.pipeline.json_chunks import Body, Pieces

Headers = tuple[tuple[bytes, bytes], ...]

_JSON = (b"content-type", b"application/json")


async def send_json(send: Send, body: Body, status: int = 200, headers: Headers = ()) -> None:
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
    if isinstance(body, Pieces):
        await send_body(send, body)
    else:
        await send({"type": "http.response.body", "body": body})


async def send_body(send: Send, body: Body, *, last: bool = True) -> None:
    """Send a part of a response's body; one in pieces no faster than the client takes them."""
    if isinstance(body, Pieces):
        for piece in body.parts:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(0)
        body = b""
        if not last:
            return
    await send({"type": "http.response.body", "body": body, "more_body": not last})
