"""Errors as REST, webhooks, OAuth and the HTTP guard send them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Send

from gateway.errors import wire
from gateway.surfaces.http.responses import Headers, send_json

UNAVAILABLE = (
    "The portal cannot look up who you are just now. Try again in a moment. What is open to "
    "everyone works meanwhile, without signing in."
)
"""Says that the database does not answer; it is 503, for it is nobody's credential's fault."""
ErrorPage = Callable[[Request, int, str, str], Response]
"""Makes a page of an error: the request, the status, a title, and a text that is not HTML yet."""

NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
"""Headers of every answer that is for one client alone (RFC 6749, section 5.1)."""
RETRY_AFTER_SECONDS = 5
"""Seconds after which to try again then."""


async def send_error(
    send: Send,
    status: int,
    code: str,
    message: str,
    request_id: str,
    *,
    details: Mapping[str, Any] | None = None,
    headers: Headers = (),
) -> None:
    """Send ``{"error": {"code", "message", "details"}, "request_id"}``."""
    body = to_json(wire(code, message, details or {}, request_id))
    await send_json(send, body, status, headers)


def refusal(
    error: str, text: str, status: int = 400, headers: Mapping[str, str] | None = None
) -> Response:
    """An error as OAuth clients read it (RFC 6749, section 5.2)."""
    body = {"error": error, "error_description": text}
    return JSONResponse(body, status, headers={**NO_STORE, **(headers or {})})


def plain_page(request: Request, status: int, title: str, text: str) -> Response:
    """An error as plain text."""
    return PlainTextResponse(f"{title}\n\n{text}\n", status)
