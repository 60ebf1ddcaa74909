"""Clients as the SDK's handlers take them; imports ``mcp``, so import it only when needed."""

from __future__ import annotations

from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull
from pydantic import AnyUrl, Field, TypeAdapter

from auth.oauth import redirect_uris as uris
from auth.oauth.client_record import ClientRecord
from auth.tiers import Tier

SCOPES = (Tier.PUBLIC.value, Tier.MEMBERS.value)
"""All scopes: the tiers above open."""
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

        The SDK's handlers pass a URI that is normalised already, so it is compared with the
        normalised forms of the registered ones. That is safe, as the browser is sent to the
        normalised URI.

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
        """The known scopes of a request, in order of their tiers.

        Unknown scopes are ignored, as clients ask for ``openid`` or ``offline_access`` out of
        habit. A request without a known scope is one for all: a scope is only a ceiling, and the
        rules decide below it.
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
        redirect_uris=[_URL.validate_python(each) for each in record.redirect_uris],
        token_endpoint_auth_method=record.method,
        grant_types=list(GRANTS),
        scope=" ".join(SCOPES),
        client_secret=record.secret,
        client_id_issued_at=issued,
        client_secret_expires_at=record.secret_expires,
    )
