"""The OAuth clients, none of which the portal stores.

A client that publishes a metadata document has the document's URL as its id. Any other client may
register (RFC 7591), and its id is the registration itself as a sealed text (appendix A.5.2). So
anonymous registrations, however many, take no memory and are valid on every replica.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

from auth.oauth import redirect_uris as uris
from auth.oauth.cimd import ClientDocuments
from auth.oauth.client_record import ClientRecord, RegistrationRefused, UnknownClient, shown_name
from auth.sealer import BadSeal, Sealer

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata

    from auth.oauth.sdk_client import PortalClient

REGISTRATION_LIFETIME_S = 10 * 365 * 24 * 3600
"""Seconds for which a registration is good: ten years.

Nothing is stored for it, so nothing is gained by an earlier end. A public client cannot be told
when its id ends, and many clients do not register again when their id is unknown: their users would
be stuck. A confidential client's secret ends at the same time, which the client is told.
"""
MAX_CLIENT_ID_LENGTH = 2048
"""Characters of a client id, which travels in addresses."""
_METHODS = frozenset({"none", "client_secret_post", "client_secret_basic"})
# RFC 7591, section 2. Clients that ignore the answer can only follow the RFC; the SDK's own server
# would use client_secret_post.
_DEFAULT_METHOD = "client_secret_basic"
_DEFAULT_NAME = "A client without a name"


@dataclass(eq=False, repr=False)
class Clients:
    """Finds clients by their id, and registers them.

    Attributes:
        sealer: seals registrations; its purpose is theirs alone.
        documents: finds clients that publish a metadata document.
        clock: seconds since the epoch; replaced in tests.
    """

    sealer: Sealer
    documents: ClientDocuments
    clock: Callable[[], float] = time.time

    async def get(self, client_id: str) -> PortalClient | None:
        """The client of that id as the SDK's handlers take it, or None."""
        from auth.oauth.sdk_client import sdk_client

        try:
            return sdk_client(await self.find(client_id))
        except UnknownClient:
            return None

    async def find(self, client_id: str) -> ClientRecord:
        """The client of that id.

        Raises:
            UnknownClient: there is none; the reason is for people.
        """
        if len(client_id) > MAX_CLIENT_ID_LENGTH:
            raise UnknownClient("The client_id is too long.")
        if client_id.startswith("https://"):
            return await self.documents.get(client_id)
        try:
            sealed = self.sealer.open(client_id)
        except BadSeal:
            raise UnknownClient(
                "The client is not registered here, or no longer. It must register again."
            ) from None
        return self._record(client_id, sealed)

    def must_fetch(self, client_id: str) -> bool:
        """Whether :meth:`find` would send a request to a URL that a stranger chose."""
        return (
            client_id.startswith("https://")
            and len(client_id) <= MAX_CLIENT_ID_LENGTH
            and not self.documents.remembers(client_id)
        )

    def register(self, metadata: OAuthClientMetadata | OAuthClientInformationFull) -> PortalClient:
        """Register a client.

        What it asks for beyond the portal's grants and scopes is left out of the answer, as RFC
        7591, section 3.2.1 allows.

        Args:
            metadata: the client's own metadata.

        Raises:
            RegistrationRefused: it cannot be a client here.
        """
        from auth.oauth.sdk_client import sdk_client

        method = metadata.token_endpoint_auth_method or _DEFAULT_METHOD
        if method not in _METHODS:
            raise RegistrationRefused(
                "invalid_client_metadata",
                f"token_endpoint_auth_method must be one of {', '.join(sorted(_METHODS))}.",
            )
        issued = int(self.clock())
        sealed: dict[str, Any] = {
            "r": _redirect_uris([str(each) for each in metadata.redirect_uris or ()]),
            "m": method,
            "t": issued,
            # Two clients with the same metadata in the same second get two ids and two secrets.
            "i": token_urlsafe(9),
        }
        if name := shown_name(metadata.client_name, instead=""):
            sealed["n"] = name
        client_id = self.sealer.seal(sealed, REGISTRATION_LIFETIME_S)
        if len(client_id) > MAX_CLIENT_ID_LENGTH:
            raise RegistrationRefused(
                "invalid_client_metadata", "The redirect_uris are too many or too long."
            )
        return sdk_client(self._record(client_id, sealed), issued)

    def _record(self, client_id: str, sealed: dict[str, Any]) -> ClientRecord:
        confidential = sealed["m"] != "none"
        return ClientRecord(
            client_id=client_id,
            name=sealed.get("n", _DEFAULT_NAME),
            redirect_uris=tuple(sealed["r"]),
            method=sealed["m"],
            secret=self.sealer.mark(f"secret:{client_id}") if confidential else None,
            secret_expires=sealed["t"] + REGISTRATION_LIFETIME_S if confidential else None,
        )


def _redirect_uris(texts: list[str]) -> list[str]:
    if not texts:
        raise RegistrationRefused("invalid_redirect_uri", "redirect_uris must not be empty.")
    for place, text in enumerate(texts, start=1):
        if wrong := uris.problem(text):
            raise RegistrationRefused("invalid_redirect_uri", f"redirect_uris[{place}] {wrong}.")
    return texts
