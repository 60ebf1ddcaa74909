"""Signing in with an OpenID Connect provider (OpenID Connect Core 1.0, section 3.1)."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence
from typing import Any

from auth.callers import Account, SignedOut
from auth.credentials import BadCredential
from auth.document_fetcher import Document, system_tls
from auth.issuers import oidc_claims
from auth.issuers.discovery import Discovery, IssuerUnavailable, fetch_json
from auth.issuers.jwks import ALGORITHMS, Jwks
from auth.sign_in.oidc_logout import signed_out
from auth.sign_in.redirects import AuthorizationRequest, authorization_request, returned_code
from auth.single_use import SingleUseStore
from auth.tokens.external_tokens import MAX_CLOCK_SKEW_S, checked_claims
from auth.tokens.jwt_checks import (
    MAX_TOKEN_LENGTH,
    TOO_LONG,
    audiences,
    check_times,
    issued_at,
    unverified,
)

TOKEN_TIMEOUT_S = 10.0
"""Seconds that a provider may take to answer for a code."""

_WHOSE = "ID token"
_HASHES = {"EdDSA": hashlib.sha512}  # of Ed25519; all others that are accepted use SHA-256


class OidcSignIn:
    """Proves an account at one provider: authorization code, PKCE, state and nonce.

    Args:
        label: what the button says.
        issuer: the provider, exactly as it writes itself.
        client_id: the portal's client id there.
        client_secret: its secret, or None for a public client.
        scopes: what to ask for; ``openid`` is always among them.
    """

    def __init__(
        self,
        label: str,
        issuer: str,
        client_id: str,
        client_secret: str | None = None,
        scopes: Sequence[str] = ("openid", "profile", "email"),
    ) -> None:
        self.label = label
        self._issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._scopes = tuple(dict.fromkeys(("openid", *scopes)))
        self._discovery = Discovery(issuer)
        self._jwks = Jwks(self._discovery.jwks_uri)

    async def begin(self, callback: str) -> AuthorizationRequest:
        """Prepare a sign-in.

        Args:
            callback: the portal's address to which the provider sends the browser back.

        Raises:
            BadCredential: the provider does not answer.
        """
        endpoint = await self._endpoint("authorization_endpoint")
        return authorization_request(
            endpoint, self._client_id, " ".join(self._scopes), callback, nonce=True
        )

    async def finish(
        self, callback: str, query: Mapping[str, str], remembered: Mapping[str, Any]
    ) -> Account:
        """The account that the provider vouches for.

        Args:
            callback: the same address as at the beginning.
            query: the parameters that the browser returned with.
            remembered: ``AuthorizationRequest.remembered`` of the same browser.

        Raises:
            BadCredential: nothing is proved; the reason is for people.
        """
        code = returned_code(query, remembered, self.label)
        await self._check_sender(query)
        token = await self._token(callback, code, str(remembered.get("verifier", "")))
        claims = await self._id_claims(token, str(remembered.get("nonce", "")))
        made = issued_at(claims)
        at = time.time() if made is None else made
        return oidc_claims.account(self._issuer, await self._completed(claims, token), at=at)

    async def signed_out(self, token: str, spent: SingleUseStore) -> SignedOut:
        """Whom the provider says it has signed out (OpenID Connect Back-Channel Logout 1.0).

        Args:
            token: the logout token.
            spent: records which were used.

        Raises:
            BadCredential: the token is not the provider's for this portal, or was used before.
        """
        return await signed_out(token, self._issuer, self._client_id, self._jwks, spent, time.time)

    async def _check_sender(self, query: Mapping[str, str]) -> None:
        # RFC 9207: an answer names its sender, so that one provider's code is not taken to
        # another by an attacker who mixes them up.
        sender = query.get("iss")
        metadata = await self._answered(self._discovery.metadata())
        promised = metadata.get("authorization_response_iss_parameter_supported") is True
        if sender != self._issuer and (promised or sender is not None):
            raise BadCredential(f"The answer does not come from {self.label}. Sign in again.")

    async def _token(self, callback: str, code: str, verifier: str) -> Mapping[str, Any]:
        endpoint = await self._endpoint("token_endpoint")
        metadata = await self._answered(self._discovery.metadata())
        import httpx2
        from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]
        from authlib.integrations.httpx_client import (  # type: ignore[import-untyped]
            AsyncOAuth2Client,
        )

        client = AsyncOAuth2Client(
            self._client_id,
            self._client_secret,
            token_endpoint_auth_method=self._method(metadata),
            verify=await system_tls(),
            timeout=TOKEN_TIMEOUT_S,
        )
        try:
            async with asyncio.timeout(TOKEN_TIMEOUT_S), client:
                token = await client.fetch_token(
                    endpoint,
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=verifier,
                    redirect_uri=callback,
                )
        except OAuthError as refusal:
            raise BadCredential(self._refused(str(refusal.error))) from None
        except (httpx2.HTTPError, OSError, TimeoutError, ValueError):
            raise BadCredential(f"{self.label} does not answer. Try again in a minute.") from None
        return dict(token)

    def _refused(self, error: str) -> str:
        if error == "invalid_grant":
            return f"{self.label} does not take its answer back; it may be too old. Sign in again."
        return (
            f"{self.label} does not accept the portal as its client. An admin must look at "
            "client_id and client_secret in portal.yaml."
        )

    async def _id_claims(self, token: Mapping[str, Any], nonce: str) -> dict[str, Any]:
        text = token.get("id_token")
        if isinstance(text, str) and len(text) > MAX_TOKEN_LENGTH:
            raise BadCredential(f"The ID token of {self.label} {TOO_LONG}")
        read = unverified(text) if isinstance(text, str) else None
        if not isinstance(text, str) or read is None or read.issuer != self._issuer:
            raise BadCredential(f"{self.label} sent no ID token of its own. Tell an admin.")
        claims = await checked_claims(text, read, self._jwks, tuple(ALGORITHMS), _WHOSE)
        check_times(claims, time.time(), MAX_CLOCK_SKEW_S, _WHOSE)
        self._check_addressee(claims)
        if not nonce or not _same(claims.get("nonce"), nonce):
            raise BadCredential("The ID token belongs to another sign-in. Sign in again.")
        expected = _half_hash(str(token.get("access_token", "")), read.algorithm)
        if "at_hash" in claims and not _same(claims["at_hash"], expected):
            raise BadCredential(f"What {self.label} sent does not fit together. Sign in again.")
        return claims

    def _check_addressee(self, claims: Mapping[str, Any]) -> None:
        addressees = audiences(claims)
        party = claims.get("azp")
        meant = self._client_id in addressees and party in {None, self._client_id}
        if not meant or (len(addressees) > 1 and party is None):
            raise BadCredential(f"The ID token of {self.label} is for another application.")

    async def _completed(
        self, claims: dict[str, Any], token: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """The claims, completed by those of the userinfo endpoint (section 5.3)."""
        metadata = await self._answered(self._discovery.metadata())
        access = token.get("access_token")
        if self._is_complete(claims) or "userinfo_endpoint" not in metadata or not access:
            return claims
        url = await self._endpoint("userinfo_endpoint")
        headers = {"Authorization": f"Bearer {access}", "Accept": "application/json"}
        more: Document = await self._answered(fetch_json(url, headers))
        if more.content.get("sub") != claims.get("sub"):
            raise BadCredential(f"{self.label} speaks of two different people. Tell an admin.")
        return _merged(claims, more.content)

    def _is_complete(self, claims: Mapping[str, Any]) -> bool:
        wanted = {"email": "email_verified", "profile": "name"}
        return all(claim in claims for scope, claim in wanted.items() if scope in self._scopes)

    def _method(self, metadata: Mapping[str, Any]) -> str:
        if self._client_secret is None:
            return "none"
        methods = metadata.get("token_endpoint_auth_methods_supported")
        only_post = isinstance(methods, list) and "client_secret_basic" not in methods
        return "client_secret_post" if only_post else "client_secret_basic"

    async def _endpoint(self, name: str) -> str:
        return str(await self._answered(self._discovery.address(name)))

    async def _answered(self, question: Any) -> Any:
        try:
            return await question
        except IssuerUnavailable as problem:
            raise BadCredential(
                f"{self.label} cannot be asked right now. {problem} Try again in a minute."
            ) from None


def _merged(claims: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Both together; the ID token counts where they differ."""
    if "email" not in claims:
        claims = {name: value for name, value in claims.items() if name != "email_verified"}
    merged = {**more, **claims}
    if "email_verified" not in claims and merged.get("email") != more.get("email"):
        merged.pop("email_verified", None)  # it was about another address
    return merged


def _same(given: object, expected: str) -> bool:
    return isinstance(given, str) and hmac.compare_digest(given.encode(), expected.encode())


def _half_hash(text: str, algorithm: str | None) -> str:
    """The left half of a hash, as ``at_hash`` has it (OpenID Connect Core 1.0, 3.1.3.6)."""
    digest = _HASHES.get(algorithm or "", hashlib.sha256)(text.encode()).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()
