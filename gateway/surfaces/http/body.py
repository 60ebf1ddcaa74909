"""Reads a request's body, up to a limit."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import Receive

from gateway.surfaces.http.responses import Headers
from gateway.toolkit.eager_start import within

BODY_TIMEOUT_SECONDS = 30.0
"""Seconds in which a whole body must have come in; longer, and a crawling client is let go."""
_MAX_LENGTH_DIGITS = 20  # of a length that there can be; Python does not read numbers of thousands


class BodyRefused(Exception):
    """The body is not taken; the text tells the client why.

    Attributes:
        status: the HTTP status that says so.
        code: the same as a snake_case word.
        headers: what the response carries beside.
    """

    status = 413
    code = "too_large"
    headers: Headers = ()


class BodyTooLarge(BodyRefused):
    """The body has more bytes than the portal takes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is larger than {limit:,} bytes.")


class BodyTooSlow(BodyRefused):
    """The body did not come in whole in time."""

    status = 408
    code = "too_slow"
    headers = ((b"connection", b"close"),)

    def __init__(self) -> None:
        super().__init__(f"The body did not come in within {BODY_TIMEOUT_SECONDS:g} s.")


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
        BodyTooSlow: it is not there whole within :data:`BODY_TIMEOUT_SECONDS`.
        ClientLeft: the connection ended in the middle of it.
    """
    declared = headers.get("content-length", "0")
    if declared.isdecimal() and (len(declared) > _MAX_LENGTH_DIGITS or int(declared) > limit):
        raise BodyTooLarge(limit)
    return await within(BODY_TIMEOUT_SECONDS, _read(receive, limit), BodyTooSlow)


async def _read(receive: Receive, limit: int) -> bytes:
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
