"""Errors as REST, webhooks and the door send them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json
from starlette.types import Send

from gateway.errors import wire
from gateway.surfaces.responses import Headers, send_json

UNAVAILABLE = (
    "The portal cannot look up who you are just now. Try again in a moment. What is open to "
    "everyone works meanwhile, without signing in."
)
"""Says that the database does not answer; it is 503, for it is nobody's credential's fault."""
COME_BACK = 5
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
