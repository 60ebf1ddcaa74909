"""The grants of the token endpoint that stand on signed assertions, and need no browser.

``client_credentials`` (RFC 6749, section 4.4) gives a declared client access of its own, and
``jwt-bearer`` with an identity assertion (RFC 7523; ID-JAG) gives a client access for a person. The
module imports ``mcp``, so it is imported only when the first client asks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from auth.callers import ANONYMOUS
from auth.credentials import BadCredential
from auth.oauth.authorization_server import AuthorizationServer, MachineAccess
from auth.oauth.declared_clients import ASSERTION_TYPE, DeclaredClient
from auth.oauth.identity_assertions import GRANT_TYPE
from auth.oauth.provider import scope_of
from auth.oauth.sdk_client import SCOPES
from auth.tiers import Tier
from gateway.observability.audit_record import AuditRecord
from gateway.observability.logs import get_logger
from gateway.surfaces.http.errors import NO_STORE, refusal
from gateway.surfaces.http.request_context import context_of

CLIENT_CREDENTIALS = "client_credentials"

Noted = Callable[[Request, str, str | None, Tier, str], None]
"""Records a request for a token: the request, the grant type, the person, their tier, how it
ended."""

log = get_logger(__name__)


def grant_types(machines: MachineAccess) -> tuple[str, ...]:
    """The grant types that what is declared allows."""
    own = (CLIENT_CREDENTIALS,) if machines.by_themselves else ()
    return (*own, GRANT_TYPE) if machines.for_people else own


def noted(
    audit: Callable[[AuditRecord], None],
    request: Request,
    kind: str,
    person: str | None,
    tier: Tier,
    outcome: str,
) -> None:
    """Write an audit record of a request for a token."""
    item = f"oauth/{kind.rpartition(':')[2]}"
    id = context_of(request.scope).request_id
    audit(AuditRecord(datetime.now(UTC), id, person, tier, item, "token", "http", outcome, 0.0, 0))


class Refused(Exception):
    """The request is refused (RFC 6749, section 5.2).

    Args:
        error: the error code.
        reason: why, for the client's developer.
    """

    def __init__(self, error: str, reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason


class Granted(NamedTuple):
    """A token, for whom, and up to which tier it may be used."""

    token: str
    expires_in: int
    scope: tuple[str, ...]
    person: str


class _Client(NamedTuple):
    """A client that has authenticated."""

    id: str
    name: str
    declared: DeclaredClient | None


@dataclass(frozen=True, slots=True)
class AssertionGrants:
    """Answers requests of tokens for assertions.

    Attributes:
        server: the authorization server's own parts.
        machines: what takes the assertions.
        by_secret: authenticates a client by its secret, to its id and name; None where it has none.
        noted: records what came of a request.
    """

    server: AuthorizationServer
    machines: MachineAccess
    by_secret: Callable[[Request, Mapping[str, str], str], Awaitable[tuple[str, str] | None]]
    noted: Noted

    @property
    def types(self) -> tuple[str, ...]:
        """The grant types that are answered."""
        return grant_types(self.machines)

    async def token(self, request: Request, said: Mapping[str, str], base: str) -> Response:
        """A token, or why there is none.

        Args:
            request: the request.
            said: its parameters.
            base: the portal's address as the client sees it.
        """
        kind = said["grant_type"]
        work = self._for_itself if kind == CLIENT_CREDENTIALS else self._for_a_person
        try:
            granted = await work(request, said, base)
        except Refused as refused:
            log.warning("token_refused", grant=kind, error=refused.error, reason=refused.reason)
            self.noted(request, kind, None, ANONYMOUS.tier, refused.error)
            status = 401 if refused.error == "invalid_client" else 400
            return refusal(refused.error, refused.reason, status, NO_STORE)
        self.noted(request, kind, granted.person, Tier(granted.scope[-1]), "ok")
        body = {
            "access_token": granted.token,
            "token_type": "Bearer",
            "expires_in": granted.expires_in,
            "scope": " ".join(granted.scope),
        }
        return JSONResponse(body, headers=NO_STORE)

    async def _for_itself(self, request: Request, said: Mapping[str, str], base: str) -> Granted:
        client = (await self._client(request, said, base)).declared
        if client is None or client.tier is None:
            raise Refused("unauthorized_client", "The client has no access of its own here.")
        scope = _scope(_asked(said), [client.tier.value])
        resource = self._resource(said.get("resource"), base)
        token, seconds = self.machines.tokens.issue(client, base, resource, scope)
        return Granted(token, seconds, scope, f"client:{client.id}")

    async def _for_a_person(self, request: Request, said: Mapping[str, str], base: str) -> Granted:
        client = await self._client(request, said, base)
        if "assertion" not in said:
            raise Refused("invalid_request", "Send the identity assertion as assertion.")
        try:
            asserted = await self.machines.assertions.asserted(said["assertion"], client.id)
        except BadCredential as bad:
            raise Refused("invalid_grant", str(bad)) from None
        resource = base + asserted.resource
        if "resource" in said and not self.server.site.same(said["resource"], resource):
            raise Refused("invalid_target", f"The identity assertion is for {resource}.")
        scope = _scope(_asked(said), asserted.scope)
        try:
            grant = await self.machines.grants.grant(
                asserted.account, (client.id, client.name), resource, scope
            )
        except BadCredential as bad:
            raise Refused("invalid_grant", str(bad)) from None
        token, seconds = self.server.tokens.issue(grant, base, scope=scope)
        return Granted(token, seconds, scope, grant.person)

    async def _client(self, request: Request, said: Mapping[str, str], base: str) -> _Client:
        """The client, which has authenticated in exactly one way."""
        if "client_assertion" not in said and "client_assertion_type" not in said:
            known = await self.by_secret(request, said, base)
            if known is None:
                raise Refused("invalid_client", "Authenticate with a client_assertion.")
            return _Client(*known, None)
        if "client_secret" in said or "authorization" in request.headers:
            raise Refused("invalid_request", "Authenticate in one way: the assertion alone.")
        if said.get("client_assertion_type") != ASSERTION_TYPE:
            raise Refused("invalid_client", f"client_assertion_type must be {ASSERTION_TYPE}.")
        try:
            found = await self.machines.clients.authenticated(
                said.get("client_assertion", ""), said.get("client_id")
            )
        except BadCredential as bad:
            raise Refused("invalid_client", str(bad)) from None
        return _Client(found.id, found.name, found)

    def _resource(self, asked: str | None, base: str) -> str:
        if not asked:
            return base
        path = self.server.site.resource_path(asked)
        if path is None or not self.server.is_resource(path):
            raise Refused("invalid_target", "The portal has no such resource.")
        return base + path


def _asked(said: Mapping[str, str]) -> tuple[str, ...] | None:
    scope = said.get("scope", "").split()
    return tuple(scope) or None


def _scope(asked: Iterable[str] | None, allowed: Iterable[str] | None) -> tuple[str, ...]:
    """What of the scopes that are asked for is granted: a tier, and those below it.

    Raises:
        Refused: nothing of it is.
    """
    highest = [
        max((Tier(each) for each in scopes if each in SCOPES), default=Tier.OPEN)
        for scopes in (asked, allowed)
        if scopes is not None
    ]
    least = min(highest, default=Tier.MEMBERS)
    if least is Tier.OPEN:
        raise Refused("invalid_scope", f"Scopes here are {' and '.join(SCOPES)}; ask for one.")
    return scope_of([least.value])
