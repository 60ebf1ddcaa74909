"""What the OAuth routes are made of, and the few responses that need nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from auth.oauth.parts import AuthorizationServer
from gateway.limiter import Limiter

if TYPE_CHECKING:
    from auth.keys import SigningKeys

ErrorPage = Callable[[Request, int, str, str], Response]
"""Makes a page of an error: the request, the status, a title, and a text that is not HTML yet."""

AUTHORIZATION_PATH = "/authorize"
"""The authorization endpoint, below the portal's base."""
TOKENS_PATH = "/token"
"""The token endpoint, likewise."""
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
"""Headers of every answer that is for one client alone (RFC 6749, section 5.1)."""


def plain_page(request: Request, status: int, title: str, text: str) -> Response:
    """An error as plain text."""
    return PlainTextResponse(f"{title}\n\n{text}\n", status)


@dataclass(frozen=True, slots=True)
class Limits:
    """How often one peer may ask.

    Attributes:
        authorize: for authorizations, each of which may fetch a client's metadata, and for what
            else does so.
        register: for registrations.
        fail: for requests of tokens that fail.
    """

    authorize: Limiter = field(default_factory=lambda: Limiter(60, 60))
    register: Limiter = field(default_factory=lambda: Limiter(60, 600))
    fail: Limiter = field(default_factory=lambda: Limiter(60, 60))


@dataclass(frozen=True, slots=True)
class OAuthSurface:
    """The parts of the OAuth routes.

    Attributes:
        server: the authorization server's own parts.
        keys: the keys of access tokens, whose public parts are published.
        name: what the portal is called.
        error_page: shows an error to a person.
        limits: how often one peer may ask.
    """

    server: AuthorizationServer
    keys: SigningKeys
    name: str
    error_page: ErrorPage = plain_page
    limits: Limits = field(default_factory=Limits)


def refusal(
    error: str, text: str, status: int = 400, headers: Mapping[str, str] | None = None
) -> Response:
    """An error as OAuth clients read it (RFC 6749, section 5.2)."""
    body = {"error": error, "error_description": text}
    return JSONResponse(body, status, headers={**NO_STORE, **(headers or {})})


def too_often(wait: float) -> Response:
    """The answer to a peer that asks too often.

    Args:
        wait: seconds after which it may ask again.
    """
    seconds = math.ceil(wait)
    text = f"There were too many requests from this address. Try again in {seconds} s."
    return refusal("temporarily_unavailable", text, 429, {"Retry-After": str(seconds)})
