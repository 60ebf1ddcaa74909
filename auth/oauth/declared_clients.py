"""OAuth clients that an admin declares, and how they prove who they are (``private_key_jwt``)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from auth.credentials import BadCredential
from auth.issuers.jwks import Jwks
from auth.portal_addresses import Site
from auth.single_use import SingleUseStore
from auth.tiers import Tier
from auth.tokens.one_time_assertions import (
    AssertionKind,
    checked_assertion,
    named,
    only_audience,
    read_assertion,
    spend,
)

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
"""The only ``client_assertion_type`` (RFC 7523, section 2.2)."""
KIND = AssertionKind(
    "client assertion",
    frozenset({None, "JWT", "client-authentication+jwt"}),
    lifetime=600,
    dated=False,
)
"""draft-ietf-oauth-rfc7523bis gives these assertions a type; before it, they had none."""


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredClient:
    """A client as the admin declares it.

    Attributes:
        id: its client id.
        name: what people call it.
        keys: its public keys.
        algorithms: how it may sign.
        tier: what it may use by itself, or None where it only speaks for people.
        tools: the only tools that it may use by itself, or None for all of the tier.
    """

    id: str
    name: str
    keys: Jwks
    algorithms: tuple[str, ...]
    tier: Tier | None = None
    tools: frozenset[str] | None = None


class DeclaredClients:
    """The declared clients, by the assertions with which they authenticate.

    Args:
        clients: by their ids.
        site: the portal's addresses, one of which an assertion must be for.
        token_path: where the token endpoint is, below the base.
        spent: records which assertions were used.
        clock: seconds since the epoch; replaced in tests.
    """

    def __init__(
        self,
        clients: Mapping[str, DeclaredClient],
        site: Site,
        token_path: str,
        spent: SingleUseStore,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.clients = clients
        self._site = site
        self._audiences = frozenset({"", token_path})
        self._spent = spent
        self._clock = clock

    async def authenticated(self, assertion: str, client_id: str | None) -> DeclaredClient:
        """The client that an assertion proves.

        Args:
            assertion: the ``client_assertion``.
            client_id: the parameter of that name, which may be left out (RFC 7521, section 4.2).

        Raises:
            BadCredential: it proves nothing.
        """
        read = read_assertion(assertion, KIND)
        client = self.clients.get(read.issuer or "")
        if client is None:
            raise BadCredential("The client assertion is of no client that is declared here (iss).")
        claims = await checked_assertion(
            assertion, read, client.keys, client.algorithms, KIND, self._clock()
        )
        if named(claims, "sub", KIND) != client.id or named(claims, "iss", KIND) != client.id:
            raise BadCredential("The client assertion is not the client's about itself (iss, sub).")
        if client_id is not None and client_id != client.id:
            raise BadCredential("The client assertion and client_id name different clients.")
        # The issuer is what newer clients write, the token endpoint what RFC 7523 itself has.
        if self._site.resource_path(only_audience(claims, KIND)) not in self._audiences:
            raise BadCredential("The client assertion is for another server (aud).")
        await spend(claims, client.id, KIND, self._spent)
        return client
