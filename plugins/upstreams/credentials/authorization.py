"""A person agrees at an authorization server: the way there, and what the answer is worth."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from typing import Any

from gateway.contract import Departure, Place
from plugins.upstreams.credentials import tokens as endpoint
from plugins.upstreams.credentials.discovery import Issuer
from plugins.upstreams.credentials.oauth_http import OAuthFailed, OAuthHttp
from plugins.upstreams.credentials.tokens import OAuthClient, Tokens, taken


def departure(issuer: Issuer, client: OAuthClient, place: Place, scope: str) -> Departure:
    """Where a person agrees, and what has to come back with the answer.

    Args:
        issuer: the authorization server.
        client: what the portal is to it.
        place: where the answer comes to.
        scope: what is asked for.
    """
    from authlib.oauth2.rfc6749.parameters import (  # type: ignore[import-untyped]
        prepare_grant_uri,
    )
    from authlib.oauth2.rfc7636 import (  # type: ignore[import-untyped]
        create_s256_code_challenge,
    )

    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    url = prepare_grant_uri(
        issuer.endpoint("authorization_endpoint"),
        client.id,
        "code",
        redirect_uri=place.callback,
        scope=scope or None,
        state=state,
        code_challenge=create_s256_code_challenge(verifier),
        code_challenge_method="S256",
        resource=issuer.resource,
    )
    kept = {"state": state, "verifier": verifier, "issuer": issuer.issuer, "scope": scope}
    return Departure(url, kept)


def code_of(query: Mapping[str, str], remembered: Mapping[str, Any], issuer: Issuer) -> str:
    """The authorization code of an answer that is to what was begun (RFC 6749, 4.1.2; RFC 9207).

    Args:
        query: the answer.
        remembered: what was to come back with it.
        issuer: the authorization server that is named now.

    Raises:
        OAuthFailed: it is to something else, comes from somebody else, or is a refusal.
    """
    begun, state = str(remembered.get("state", "")), query.get("state", "")
    if not begun or not hmac.compare_digest(begun.encode(), state.encode()):
        raise OAuthFailed("The answer is not to what was begun. Connect again.")
    sender = query.get("iss")
    promised = issuer.says("authorization_response_iss_parameter_supported")
    if remembered.get("issuer") != issuer.issuer or (
        sender != issuer.issuer and (promised or sender is not None)
    ):
        raise OAuthFailed("The answer does not come from who was asked. Connect again.")
    if error := query.get("error"):
        raise OAuthFailed(
            "You did not agree there."
            if error == "access_denied"
            else "The authorization server refused. Try again later, or tell an admin."
        )
    if not (code := query.get("code")):
        raise OAuthFailed("The answer has no code. Connect again.")
    return code


async def tokens_for(
    code: str,
    http: OAuthHttp,
    issuer: Issuer,
    client: OAuthClient,
    place: Place,
    remembered: Mapping[str, Any],
) -> Tokens:
    """What an authorization server gives for a code.

    Args:
        code: of its answer.
        http: asks.
        issuer: the authorization server.
        client: what the portal is to it.
        place: where the answer came to.
        remembered: what came back with it.

    Raises:
        OAuthFailed: it gives nothing.
    """
    url, scope = issuer.endpoint("token_endpoint"), str(remembered.get("scope", ""))
    fields = {
        "code": code,
        "code_verifier": str(remembered["verifier"]),
        "redirect_uri": place.callback,
        "resource": issuer.resource,
    }
    answer = await endpoint.ask(http, url, client, "authorization_code", fields)
    return taken(answer, Tokens("", "", None, 0.0, url, issuer.resource, client, scope))
