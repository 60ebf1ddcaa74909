"""The parts of the authorization server; quick to import, so that the portal can build it early."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from auth.oauth.consent import Consents
from auth.stores import Grant, GrantStore, People

if TYPE_CHECKING:
    from auth.oauth.clients import Clients
    from auth.oauth.declared_clients import DeclaredClients
    from auth.oauth.identity_assertions import AssertedGrants, IdentityAssertions
    from auth.oauth.machine_tokens import MachineTokens
    from auth.portal_addresses import Site
    from auth.revocations import Revocations
    from auth.tokens.access_tokens import AccessTokens


@dataclass(frozen=True, slots=True)
class MachineAccess:
    """What is granted for signed assertions, without anybody being asked.

    Attributes:
        clients: authenticates declared clients.
        tokens: issues the tokens that such clients have for themselves.
        assertions: looks at identity providers' assertions about people.
        grants: the grants that these stand for.
        by_themselves: whether a client may have tokens for itself.
        for_people: whether assertions of an issuer are taken.
    """

    clients: DeclaredClients
    tokens: MachineTokens
    assertions: IdentityAssertions
    grants: AssertedGrants
    by_themselves: bool
    for_people: bool


@dataclass(frozen=True, slots=True)
class AuthorizationServer:
    """The parts that answer OAuth clients.

    Attributes:
        clients: finds OAuth clients.
        consents: seals requests for the consent page.
        grants: stores grants, codes and refresh tokens.
        people: looks people up.
        tokens: issues access tokens.
        revocations: notified of every grant that ends.
        site: the portal's addresses.
        is_resource: whether tokens may be for a path below the base (empty for the base itself).
        refresh_lifetime: how long a refresh token is good.
        grant_lifetime: how long a grant lasts from the consent on, however often it is refreshed.
        reused: called when a code or refresh token is presented a second time, with ``code`` or
            ``refresh token`` and the grant that was revoked for it.
        clock: seconds since the epoch; replaced in tests.
        machines: what takes signed assertions, or None where an admin declares nothing of it.
    """

    clients: Clients
    consents: Consents
    grants: GrantStore
    people: People
    tokens: AccessTokens
    revocations: Revocations
    site: Site
    is_resource: Callable[[str], bool]
    refresh_lifetime: timedelta
    grant_lifetime: timedelta
    reused: Callable[[str, Grant], None]
    clock: Callable[[], float] = time.time
    machines: MachineAccess | None = None
