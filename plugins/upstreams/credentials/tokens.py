"""What a token endpoint is asked: for a code, for a refresh token, in exchange (RFC 6749, 8693)."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import quote_plus

from pydantic_core import from_json, to_json

from plugins.upstreams.credentials.oauth_http import OAuthFailed, OAuthHttp

AHEAD_SECONDS = 60.0
"""Seconds before its end at which a token is renewed."""
_MAX_TOKEN_CHARACTERS = 16 * 1024
_SHORTEST_AHEAD = 0.5


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """What the portal is to an authorization server.

    Attributes:
        id: its client id.
        secret: its secret, or nothing for a public client.
        method: how the secret is sent (RFC 7591, ``token_endpoint_auth_method``).
    """

    id: str
    secret: str = ""
    method: str = "none"

    def __repr__(self) -> str:
        """Which client; never its secret."""
        return f"OAuthClient({self.id!r})"

    def proof(self) -> tuple[dict[str, str], dict[str, str]]:
        """The fields and the headers by which a request is the client's."""
        if self.method == "client_secret_basic" and self.secret:
            pair = f"{quote_plus(self.id)}:{quote_plus(self.secret)}"
            return {}, {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        fields = {"client_id": self.id}
        if self.secret:
            fields["client_secret"] = self.secret
        return fields, {}


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a token endpoint gave, and all that is needed to renew it.

    Attributes:
        access: the access token.
        refresh: the refresh token, or nothing.
        expires: when the access token ends, in seconds since the epoch; None where nobody said.
        lifetime: for how many seconds it was given.
        endpoint: the token endpoint.
        resource: the server that it is for.
        client: whose it is.
        scope: what it may do, or else what was asked for.
        wanted: what the server has asked for beyond that, by a refusal.
    """

    access: str
    refresh: str
    expires: float | None
    lifetime: float
    endpoint: str
    resource: str
    client: OAuthClient
    scope: str = ""
    wanted: str = ""

    def __repr__(self) -> str:
        """Where they are for; never what they are."""
        return f"Tokens({self.resource!r})"

    def is_due(self) -> bool:
        """Whether the access token has ended or is about to."""
        ahead = min(AHEAD_SECONDS, self.lifetime * _SHORTEST_AHEAD)
        return self.expires is not None and time.time() >= self.expires - ahead

    def text(self) -> str:
        """All of it, as text to be sealed."""
        return to_json(asdict(self)).decode()

    @classmethod
    def read(cls, text: str) -> Tokens:
        """What :meth:`text` wrote."""
        values = from_json(text)
        return cls(**{**values, "client": OAuthClient(**values["client"])})


async def ask(
    http: OAuthHttp, endpoint: str, client: OAuthClient, grant: str, fields: Mapping[str, str]
) -> Mapping[str, Any]:
    """Ask a token endpoint.

    Args:
        http: asks.
        endpoint: the token endpoint.
        client: who asks.
        grant: the ``grant_type``.
        fields: what else the grant has.

    Raises:
        OAuthFailed: it gives no token; ``code`` is its error code.
    """
    from authlib.oauth2.rfc6749.parameters import (  # type: ignore[import-untyped]
        prepare_token_request,
    )

    own, headers = client.proof()
    body = prepare_token_request(grant, **{**fields, **own})
    answer = await http.post_form(endpoint, body, headers)
    token, kind = answer.content.get("access_token"), answer.content.get("token_type")
    if answer.status != 200 or not isinstance(token, str) or not token:
        code = answer.content.get("error")
        known = code if isinstance(code, str) and code in _ERRORS else ""
        if not known and answer.status == 401:
            known = "invalid_client"
        raise OAuthFailed(
            f"The authorization server gives no token ({known or f'HTTP {answer.status}'}).", known
        )
    printable = token.isascii() and token.isprintable() and len(token) <= _MAX_TOKEN_CHARACTERS
    if str(kind).lower() != "bearer" or not printable:
        raise OAuthFailed("The authorization server gives a token of a kind that is not known.")
    return answer.content


def taken(answer: Mapping[str, Any], before: Tokens) -> Tokens:
    """The tokens of an answer; what it does not say is as before.

    Args:
        answer: of the token endpoint.
        before: where it is, and for what.
    """
    refresh, scope = answer.get("refresh_token"), answer.get("scope")
    lifetime = _seconds(answer.get("expires_in"))
    return replace(
        before,
        access=str(answer["access_token"]),
        refresh=refresh if isinstance(refresh, str) and refresh else before.refresh,
        expires=None if lifetime is None else time.time() + lifetime,
        lifetime=lifetime or 0.0,
        scope=scope if isinstance(scope, str) else before.scope,
    )


def union(*scopes: str) -> str:
    """Scopes together, each once and in its order."""
    return " ".join(dict.fromkeys(" ".join(scopes).split()))


def _seconds(value: Any) -> float | None:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return None
    return seconds if 0 <= seconds < float("inf") else None


_ERRORS = frozenset(
    {
        "invalid_request",
        "invalid_client",
        "invalid_grant",
        "unauthorized_client",
        "unsupported_grant_type",
        "invalid_scope",
        "invalid_target",
        "access_denied",
    }
)
"""The error codes that are repeated; anything else may be a stranger's text."""
