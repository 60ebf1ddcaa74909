"""Sign-in by redirect: the browser goes to a provider and comes back with a code (OAuth 2.0)."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from auth.callers import Account
from auth.credentials import BadCredential


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """The request that a browser is sent away with (RFC 6749, section 4.1.1).

    Attributes:
        url: where to send the browser.
        remembered: JSON values that are needed when it returns, such as the state and the PKCE
            verifier. The pages store them in a sealed cookie of that browser, which binds the
            answer to it.
    """

    url: str
    remembered: Mapping[str, Any]


class RedirectSignIn(Protocol):
    """Proves an account by way of another site."""

    label: str
    """What the button says: the provider's name."""

    async def begin(self, callback: str) -> AuthorizationRequest:
        """Prepare a sign-in.

        Args:
            callback: the portal's address to which the provider sends the browser back.

        Raises:
            BadCredential: the provider does not answer; the reason is for people.
        """
        ...

    async def finish(
        self, callback: str, query: Mapping[str, str], remembered: Mapping[str, Any]
    ) -> Account:
        """The account that the provider vouches for.

        Args:
            callback: the same address as at the beginning.
            query: the parameters that the browser returned with.
            remembered: what :class:`Begun` asked to remember, from the same browser.

        Raises:
            BadCredential: nothing is proved; the reason is for people.
        """
        ...


def authorization_request(
    endpoint: str, client_id: str, scope: str, callback: str, *, nonce: bool = False
) -> AuthorizationRequest:
    """A request for an authorization code with PKCE (RFC 6749, section 4.1.1; RFC 7636).

    Args:
        endpoint: the provider's authorization endpoint.
        client_id: the portal's client id there.
        scope: what to ask for, separated by spaces.
        callback: the portal's address to which the provider sends the browser back.
        nonce: whether the answer has an ID token that must name this request.
    """
    from authlib.oauth2.client import OAuth2Client  # type: ignore[import-untyped]

    sent = {"state": secrets.token_urlsafe(24)}
    if nonce:
        sent["nonce"] = secrets.token_urlsafe(24)
    verifier = secrets.token_urlsafe(48)
    client = OAuth2Client(
        session=None,
        client_id=client_id,
        scope=scope,
        redirect_uri=callback,
        code_challenge_method="S256",
    )
    url, _ = client.create_authorization_url(endpoint, code_verifier=verifier, **sent)
    return AuthorizationRequest(url, {**sent, "verifier": verifier})


def returned_code(query: Mapping[str, str], remembered: Mapping[str, Any], provider: str) -> str:
    """The authorization code of an answer (RFC 6749, section 4.1.2) that belongs to this browser.

    Args:
        query: the parameters that the browser returned with.
        remembered: ``AuthorizationRequest.remembered`` of the same browser.
        provider: what to call the provider.

    Raises:
        BadCredential: the state is another one, or the provider refused.
    """
    expected = remembered.get("state")
    if not isinstance(expected, str) or not _same(expected, query.get("state", "")):
        raise BadCredential("This sign-in was not begun in this browser. Sign in again.")
    if error := query.get("error"):
        raise BadCredential(_refusal(error, provider))
    code = query.get("code")
    if not code:
        raise BadCredential(f"{provider} sent no answer that can be used. Sign in again.")
    return code


def _same(expected: str, given: str) -> bool:
    return bool(expected) and hmac.compare_digest(expected.encode(), given.encode())


def _refusal(error: str, provider: str) -> str:
    if error == "access_denied":
        return f"You did not agree to sign in with {provider}, or it did not let you."
    if error in {"server_error", "temporarily_unavailable"}:
        return f"{provider} cannot sign anyone in right now. Try again in a few minutes."
    # Only error codes of RFC 6749 are repeated; anything else may be a stranger's text.
    known = error if error in _ERRORS else "an unknown error"
    return (
        f"{provider} refused the portal's request ({known}). An admin must look at the portal's "
        "entry there and at sign_in in portal.yaml."
    )


_ERRORS = frozenset(
    {
        "invalid_request",
        "unauthorized_client",
        "unsupported_response_type",
        "invalid_scope",
        "invalid_client",
        "redirect_uri_mismatch",
        "application_suspended",
        "interaction_required",
        "login_required",
        "account_selection_required",
        "consent_required",
    }
)
