"""Identity assertions (ID-JAG): an identity provider's word about a person, for one client.

MCP's enterprise-managed authorization: the client gets the assertion where its person has signed
in, and brings it to the token endpoint, so that nobody is asked there
(draft-ietf-oauth-identity-assertion-authz-grant; RFC 7523, section 2.1).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from auth.callers import Account
from auth.credentials import BadCredential
from auth.issuers import oidc_claims
from auth.issuers.jwks import Jwks
from auth.portal_addresses import Site
from auth.single_use import SingleUseStore
from auth.stores import Grant, GrantStore, NoSuchPerson, Person
from auth.tokens.jwt_checks import issued_at
from auth.tokens.one_time_assertions import (
    AssertionKind,
    checked_assertion,
    named,
    only_audience,
    read_assertion,
    spend,
)

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer"
"""The ``grant_type`` (RFC 7523, section 2.1)."""
PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag"
"""What the metadata says is taken with that grant type."""
KIND = AssertionKind(
    "identity assertion", frozenset({"oauth-id-jag+jwt"}), lifetime=3600, dated=True
)
REUSE = timedelta(days=7)
"""How long a grant is used for further assertions about the same person, from the same client."""
_PROTOCOL = frozenset({"client_id", "resource", "scope"})
"""Claims about the grant, beside those that every JWT has; all others are about the person."""

Recognise = Callable[[Account], Awaitable[Person]]


@dataclass(frozen=True, slots=True, eq=False)
class AssertingIssuer:
    """An identity provider whose assertions are taken.

    Attributes:
        issuer: exactly as it writes itself.
        keys: its public keys.
        algorithms: how it may sign.
        clients: the ids of the only clients that may bring them, or None for every one.
    """

    issuer: str
    keys: Jwks
    algorithms: tuple[str, ...]
    clients: frozenset[str] | None = None


class Asserted(NamedTuple):
    """What an assertion proves.

    Attributes:
        account: the person's account at the provider.
        resource: the path below the base for which access is granted.
        scope: the scopes that the provider grants, or None where it leaves them open.
    """

    account: Account
    resource: str
    scope: tuple[str, ...] | None


class IdentityAssertions:
    """Looks at identity assertions.

    Args:
        issuers: those that are taken, by their names.
        site: the portal's addresses, whose base an assertion must be for.
        is_resource: whether tokens may be for a path below the base.
        spent: records which assertions were used.
        clock: seconds since the epoch; replaced in tests.
    """

    def __init__(
        self,
        issuers: Mapping[str, AssertingIssuer],
        site: Site,
        is_resource: Callable[[str], bool],
        spent: SingleUseStore,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._issuers = issuers
        self._site = site
        self._is_resource = is_resource
        self._spent = spent
        self._clock = clock

    async def asserted(self, assertion: str, client_id: str) -> Asserted:
        """What an assertion proves to a client that has authenticated.

        Raises:
            BadCredential: nothing.
        """
        read = read_assertion(assertion, KIND)
        issuer = self._issuers.get(read.issuer or "")
        if issuer is None:
            raise BadCredential("The identity assertion is of no issuer that is taken here (iss).")
        claims = await checked_assertion(
            assertion, read, issuer.keys, issuer.algorithms, KIND, self._clock()
        )
        if not self._site.is_base(only_audience(claims, KIND)):
            raise BadCredential("The identity assertion is for another server (aud).")
        allowed = issuer.clients is None or client_id in issuer.clients
        if named(claims, "client_id", KIND) != client_id or not allowed:
            raise BadCredential("The identity assertion is for another client (client_id).")
        resource = self._site.resource_path(named(claims, "resource", KIND))
        if resource is None or not self._is_resource(resource):
            raise BadCredential("The identity assertion is for no resource of the portal's.")
        scope = _scope(claims)
        about = {name: each for name, each in claims.items() if name not in _PROTOCOL}
        account = oidc_claims.account(issuer.issuer, about, at=issued_at(claims))
        await spend(claims, issuer.issuer, KIND, self._spent)
        return Asserted(account, resource, scope)


class AssertedGrants:
    """The grants that identity assertions stand for, which people see and may revoke.

    Args:
        grants: stores them.
        recognise: the person of an account, made at first sight as by signing in.
        clock: seconds since the epoch; replaced in tests.
    """

    def __init__(
        self, grants: GrantStore, recognise: Recognise, clock: Callable[[], float] = time.time
    ) -> None:
        self._grants = grants
        self._recognise = recognise
        self._clock = clock

    async def grant(
        self, account: Account, client: tuple[str, str], resource: str, scope: tuple[str, ...]
    ) -> Grant:
        """The grant of a person to a client: one of the last days, or a new one.

        Args:
            account: whose.
            client: the client's id and name.
            resource: what it is for, a URL.
            scope: the tiers up to which it goes.

        Raises:
            BadCredential: the person was deleted in this moment.
        """
        try:
            person = await self._recognise(account)
            now = datetime.fromtimestamp(self._clock(), UTC)
            wanted = (client[0], resource, scope, account.subject)
            for each in await self._grants.of(person.id):
                alike = (each.client_id, each.resource, each.scope, each.account) == wanted
                if alike and now - each.created < REUSE:
                    return each
            made = Grant(
                id=secrets.token_urlsafe(15),
                person=person.id,
                client_id=client[0],
                client_name=client[1],
                resource=resource,
                scope=scope,
                created=now,
                used=now,
                account=account.subject,
            )
            await self._grants.add(made)
        except NoSuchPerson:
            raise BadCredential("The account was deleted just now.") from None
        return made


def _scope(claims: Mapping[str, Any]) -> tuple[str, ...] | None:
    scope = claims.get("scope")
    if scope is None:
        return None
    if not isinstance(scope, str):
        raise BadCredential("The identity assertion has no readable scope.")
    return tuple(scope.split())
