"""Reads a request's body, up to a limit."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import Receive


class BodyTooLarge(Exception):
    """The body has more bytes than the portal takes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is larger than {limit:,} bytes.")


class ClientLeft(Exception):
    """The client went away before its request was complete."""


async def read_body(receive: Receive, headers: Mapping[str, str], limit: int) -> bytes:
    """Read the whole body.

    Args:
        receive: the ASGI channel.
        headers: the request's headers, names in lower case.
        limit: bytes that the body may have.

    Raises:
        BodyTooLarge: it has more, by its declared length or as it comes in.
        ClientLeft: the connection ended in the middle of it.
    """
    declared = headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > limit:
        raise BodyTooLarge(limit)
    message = await receive()
    if not message.get("more_body") and message["type"] == "http.request":
        body: bytes = message.get("body", b"")
        if len(body) > limit:
            raise BodyTooLarge(limit)
        return body
    chunks = bytearray()
    while True:
        if message["type"] == "http.disconnect":
            raise ClientLeft
        chunks += message.get("body", b"")
        if len(chunks) > limit:
            raise BodyTooLarge(limit)
        if not message.get("more_body"):
            return bytes(chunks)
        message = await receive()
