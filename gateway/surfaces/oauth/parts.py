"""What the OAuth routes are made of, and the few responses that need nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.responses import Response

from auth.oauth.authorization_server import AuthorizationServer
from gateway.limits.limiter import Limiter
from gateway.observability.audit_record import AuditRecord
from gateway.surfaces.http.errors import ErrorPage, plain_page, refusal

if TYPE_CHECKING:
    from auth.tokens.signing_keys import SigningKeys


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
        audit: records who was given a token for a signed assertion, and who was not.
    """

    server: AuthorizationServer
    keys: SigningKeys
    name: str
    error_page: ErrorPage = plain_page
    limits: Limits = field(default_factory=Limits)
    audit: Callable[[AuditRecord], None] = lambda record: None


def too_often(wait: float) -> Response:
    """The answer to a peer that asks too often.

    Args:
        wait: seconds after which it may ask again.
    """
    seconds = math.ceil(wait)
    text = f"There were too many requests from this address. Try again in {seconds} s."
    return refusal("temporarily_unavailable", text, 429, {"Retry-After": str(seconds)})
