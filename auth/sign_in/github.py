"""Signing in with GitHub, through an OAuth app."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from auth.callers import Account
from auth.credentials import BadCredential
from auth.document_fetcher import system_tls
from auth.sign_in.redirects import AuthorizationRequest, authorization_request, returned_code

SCOPES = "read:user user:email"
SIGN_IN_TIMEOUT_S = 10.0
"""How long GitHub may take to say whose code it is."""
HEADERS = {
    "accept": "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "user-agent": "porch",
}


class GithubSignIn:
    """Proves a GitHub account. The user's token serves to ask who it is, and is dropped.

    Args:
        client_id: the OAuth app's client id.
        client_secret: its secret.
        url: GitHub, or a GitHub Enterprise server.
        api_url: its API.
    """

    label = "GitHub"

    def __init__(
        self,
        client_id: str,
        client_secret: str,
        url: str = "https://github.com",
        api_url: str = "https://api.github.com",
    ) -> None:
        self._client_id = client_id
        self._client_secret = client_secret
        self._url = url
        self._api = api_url

    async def begin(self, callback: str) -> AuthorizationRequest:
        """Prepare a sign-in.

        Args:
            callback: the portal's address to which GitHub sends the browser back.
        """
        return authorization_request(
            f"{self._url}/login/oauth/authorize", self._client_id, SCOPES, callback
        )

    async def finish(
        self, callback: str, query: Mapping[str, str], remembered: Mapping[str, Any]
    ) -> Account:
        """The account that GitHub vouches for.

        Args:
            callback: the same address as at the beginning.
            query: the parameters that the browser returned with.
            remembered: ``AuthorizationRequest.remembered`` of the same browser.

        Raises:
            BadCredential: nothing is proved; the reason is for people.
        """
        code = returned_code(query, remembered, self.label)
        import httpx2
        from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]

        try:
            async with asyncio.timeout(SIGN_IN_TIMEOUT_S):
                return await self._account(callback, code, str(remembered.get("verifier", "")))
        except OAuthError as refusal:
            raise BadCredential(_refused(refusal.error)) from None
        except (httpx2.HTTPError, OSError, ValueError):
            raise BadCredential("GitHub does not answer. Try again in a minute.") from None

    async def _account(self, callback: str, code: str, verifier: str) -> Account:
        from authlib.integrations.httpx_client import (  # type: ignore[import-untyped]
            AsyncOAuth2Client,
        )

        client = AsyncOAuth2Client(
            self._client_id,
            self._client_secret,
            token_endpoint_auth_method="client_secret_post",  # noqa: S106 (a method's name)
            headers=HEADERS,
            verify=await system_tls(),
            timeout=SIGN_IN_TIMEOUT_S,
        )
        async with client:
            await client.fetch_token(
                f"{self._url}/login/oauth/access_token",
                grant_type="authorization_code",
                code=code,
                code_verifier=verifier,
                redirect_uri=callback,
            )
            user = (await client.get(f"{self._api}/user")).raise_for_status().json()
            emails = await client.get(f"{self._api}/user/emails")
            # People may withhold their addresses.
            return _account(user, emails.json() if emails.status_code == 200 else [])


def _account(user: Any, emails: Any) -> Account:
    said = user if isinstance(user, dict) else {}
    number, login, created = said.get("id"), said.get("login"), said.get("created_at")
    if type(number) is not int or not isinstance(login, str):
        raise ValueError("no account")
    return Account(
        subject=f"github:{number}",
        provider="github",
        name=login,
        email=_primary(emails),
        claims={"login": login} | ({"created_at": created} if isinstance(created, str) else {}),
    )


def _primary(emails: Any) -> str | None:
    """The primary address, where GitHub has verified it."""
    for each in emails if isinstance(emails, list) else ():
        if isinstance(each, dict) and each.get("primary") is True and each.get("verified") is True:
            email = each.get("email")
            return email.lower() if isinstance(email, str) else None
    return None


def _refused(error: object) -> str:
    if error == "incorrect_client_credentials":
        return (
            "GitHub does not accept the portal's client id and secret. An admin must look at "
            "sign_in.github in portal.yaml."
        )
    return "GitHub did not accept this sign-in, which may have taken too long. Sign in again."
