"""A client as the SDK's handlers know it; imports ``mcp``, so it is itself imported when needed."""

from __future__ import annotations

from collections.abc import Sequence

from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull
from pydantic import AnyUrl, Field, TypeAdapter

from auth.oauth import redirect_uris as uris
from auth.oauth.records import ClientRecord
from auth.tiers import Tier

SCOPES = (Tier.PUBLIC.value, Tier.MEMBERS.value)
"""The scopes that there are: the tiers above open."""
GRANTS = ("authorization_code", "refresh_token")

_URL = TypeAdapter[AnyUrl](AnyUrl)


class PortalClient(OAuthClientInformationFull):
    """A client with the portal's rules for redirect URIs and scopes.

    Attributes:
        record: what is known of it.
    """

    record: ClientRecord = Field(exclude=True)

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """The redirect URI that a request means.

        The SDK's handlers hand over an address that was normalised already, so it is compared with
        the normalised form of what was registered. Nothing is gained by another spelling: the
        browser is sent to the normalised address.

        Raises:
            InvalidRedirectUriError: it is not one of the client's, or none was named and the
                client has several.
        """
        normal = [str(_URL.validate_python(each)) for each in self.record.redirect_uris]
        if redirect_uri is None and len(normal) == 1:
            return _URL.validate_python(normal[0])
        if redirect_uri is None:
            raise InvalidRedirectUriError("Name the redirect_uri: the client has several.")
        if not uris.matches(normal, str(redirect_uri)):
            raise InvalidRedirectUriError("The redirect_uri is not one that the client registered.")
        return redirect_uri

    def validate_scope(self, requested_scope: str | None) -> list[str]:
        """The scopes that a request means: those that there are, in order of their tiers.

        Clients ask for ``openid`` or ``offline_access`` out of habit; that is no reason to turn
        their users away. A request for nothing that there is, is one for all: a scope is only a
        ceiling, and the rules decide below it.
        """
        requested = (requested_scope or "").split()
        return [each for each in SCOPES if each in requested] or [Tier.MEMBERS.value]


def sdk_client(record: ClientRecord, issued: int | None = None) -> PortalClient:
    """A client as the SDK's handlers take it, and as the answer to a registration."""
    return PortalClient(
        record=record,
        client_id=record.client_id,
        client_name=record.name,
        client_uri=record.uri,
        redirect_uris=_urls(record.redirect_uris),
        token_endpoint_auth_method=record.method,
        grant_types=list(GRANTS),
        scope=" ".join(SCOPES),
        client_secret=record.secret,
        client_id_issued_at=issued,
        client_secret_expires_at=record.secret_expires,
    )


def _urls(texts: Sequence[str]) -> list[AnyUrl]:
    return [_URL.validate_python(each) for each in texts]
