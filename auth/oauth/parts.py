"""What the authorization server is made of; light, so that the portal can put it together."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from auth.oauth.consent import Consents
from auth.stores import Grant, GrantStore, People

if TYPE_CHECKING:
    from auth.access_tokens import AccessTokens
    from auth.oauth.clients import Clients
    from auth.revocations import Revocations
    from auth.site import Site


@dataclass(frozen=True, slots=True)
class AuthorizationServer:
    """The parts that answer OAuth clients.

    Attributes:
        clients: knows the OAuth clients.
        consents: seals what the consent page asks.
        grants: keeps grants, codes and refresh tokens.
        people: knows who is still there.
        tokens: makes access tokens.
        revocations: told of every grant that ends.
        site: the portal's addresses.
        is_resource: whether tokens may be for a path below the base (empty for the base itself).
        refresh_lifetime: a refresh token's life.
        grant_lifetime: how long a grant lasts from the consent on, however often it is refreshed.
        reused: told what was presented a second time, ``code`` or ``refresh token``, and the
            grant that ended for it.
        clock: seconds since the epoch; replaced in tests.
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
