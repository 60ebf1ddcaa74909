"""What the portal is to an authorization server: given by hand, by its metadata, or registered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from urllib.parse import urlsplit

from pydantic_core import from_json, to_json

from gateway.contract import Place
from plugins.upstreams.credential_settings import MemberOAuth
from plugins.upstreams.credentials.discovery import Issuer
from plugins.upstreams.credentials.oauth_http import OAuthFailed, OAuthHttp
from plugins.upstreams.credentials.tokens import OAuthClient
from plugins.upstreams.store.connections import ConnectionStore

_METHODS = ("none", "client_secret_basic", "client_secret_post")
"""How the portal proves itself, the one it likes best first."""


class Registration:
    """Finds the client that the portal is.

    Args:
        http: asks.
        store: keeps what was registered.
        config: what an admin has given by hand.
        secret: reads a secret that a setting names.
        portal: what the portal is called.
    """

    def __init__(
        self,
        http: OAuthHttp,
        store: ConnectionStore,
        config: MemberOAuth,
        secret: Callable[[str], str],
        portal: str,
    ) -> None:
        self._http = http
        self._store = store
        self._config = config
        self._secret = secret
        self._portal = portal

    async def client(self, issuer: Issuer, place: Place) -> OAuthClient:
        """The portal's client at an authorization server.

        Raises:
            OAuthFailed: there is none, and an admin has to register one.
        """
        if self._config.client_id:
            return self._given(issuer, self._config.client_id)
        if issuer.says("client_id_metadata_document_supported") and _is_public(place.client):
            return OAuthClient(place.client)
        if kept := await self._store.client(issuer.issuer, place.callback):
            return OAuthClient(**from_json(kept))
        client = await self._registered(issuer, place)
        text = to_json(asdict(client)).decode()
        await self._store.keep_client(issuer.issuer, place.callback, text)
        return client

    def _given(self, issuer: Issuer, client_id: str) -> OAuthClient:
        if self._config.client_secret is None:
            return OAuthClient(client_id)
        try:
            secret = self._secret(self._config.client_secret)
        except ValueError:
            raise OAuthFailed(
                "The portal's client secret for it cannot be read. Tell an admin."
            ) from None
        posts = "client_secret_basic" not in issuer.methods()
        return OAuthClient(client_id, secret, _METHODS[2] if posts else _METHODS[1])

    async def _registered(self, issuer: Issuer, place: Place) -> OAuthClient:
        """Register the portal (RFC 7591)."""
        if "registration_endpoint" not in issuer.metadata:
            raise OAuthFailed(
                "The authorization server registers no clients by itself. An admin has to register "
                f"the portal there, with the redirect address {place.callback}, and to write its "
                "client_id in portal.yaml."
            )
        taken = [each for each in _METHODS if each in issuer.methods()]
        method = taken[0] if taken else "none"
        asked = {
            "client_name": self._portal,
            "application_type": _application_type(place.callback),
            "redirect_uris": [place.callback],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method,
        }
        if issuer.scope:
            asked["scope"] = " ".join(self._config.scopes) or issuer.scope
        answer = await self._http.post_json(issuer.endpoint("registration_endpoint"), asked)
        given, secret = answer.content.get("client_id"), answer.content.get("client_secret")
        if answer.status not in {200, 201} or not isinstance(given, str):
            raise OAuthFailed(
                f"The authorization server does not register the portal (HTTP {answer.status})."
            )
        method = str(answer.content.get("token_endpoint_auth_method") or method)
        return OAuthClient(given, secret if isinstance(secret, str) else "", method)


def _application_type(callback: str) -> str:
    """What kind of client comes back to an address (SEP-837): one on this machine is native."""
    return "web" if urlsplit(callback).scheme == "https" else "native"


def _is_public(client: str) -> bool:
    """Whether others can read the portal's client metadata document."""
    return urlsplit(client).scheme == "https"
