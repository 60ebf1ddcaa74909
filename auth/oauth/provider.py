"""The portal as an OAuth 2.1 authorization server, as the mcp SDK's handlers ask for it.

The module imports ``mcp``, which takes its time, so it is itself imported only when the first
client signs in.

What the SDK leaves to its provider, and how it is answered here:

* A code lives 60 s and is good once. Presented again, it may have been stolen, and the grant that
  came of it is revoked (RFC 6749, section 4.1.2).
* Each use of a refresh token gives a new one, and a used one that is presented again ends its
  whole family (RFC 9700, section 4.14.2): the grant is revoked, with every token that hangs on it.
  That holds for a client that repeats a request because it lost the answer, too: from here it
  looks like a thief who was quicker, and signing in once more is the smaller loss. So there is no
  time of grace.
* A grant ends with its own life, counted from the consent: refresh tokens do not slide for ever.
  Then the client gets ``invalid_grant``, and sends its person through sign-in again.
* A refresh may ask for less than the grant, never for more, and narrows only the access token that
  it gives (RFC 6749, section 6).
* To revoke any token is to revoke its grant (RFC 7009, section 2.1).
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import NoReturn

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    IdentityAssertionParams,
    RefreshToken,
    RegistrationError,
    TokenError,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

from auth.callers import Identity
from auth.credentials import BadCredential
from auth.oauth import redirect_uris
from auth.oauth.authorization_server import AuthorizationServer
from auth.oauth.client_record import ClientRecord
from auth.oauth.consent import ConsentRequest
from auth.oauth.sdk_client import SCOPES
from auth.stores import Grant, digest
from auth.stores import RefreshToken as KeptRefreshToken
from auth.tiers import Tier
from auth.tokens.jwt_checks import audiences, unverified

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_GRANT = "grant:"


class Provider:
    """Answers the SDK's handlers during one request.

    Args:
        parts: what it works with.
        base: the portal's address as the client sees it.
        said: the request's parameters, as the client wrote them: the SDK normalises the redirect
            URI, which is not what the client compares with, and does not pass on the resource of
            a token request.

    Attributes:
        asked: the address of the consent page, once :meth:`authorize` has found nothing wrong.
    """

    def __init__(self, parts: AuthorizationServer, base: str, said: Mapping[str, str]) -> None:
        self._parts = parts
        self._base = base
        self._said = said
        self.asked: str | None = None

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """The client of an id."""
        return await self._parts.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Refuse: a client's id is what it registered with, so there is nothing to take in here.

        Raises:
            RegistrationError: always; ``Clients.register`` is how clients are registered.
        """
        raise RegistrationError("invalid_client_metadata", "Register at the portal's /register.")

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        """Where the person is asked: the consent page, with the request sealed in its address.

        Raises:
            AuthorizeError: the resource is none of the portal's, or the challenge is no S256 one.
        """
        if not _CHALLENGE.fullmatch(params.code_challenge):
            raise AuthorizeError("invalid_request", "code_challenge is no S256 code challenge.")
        resource = self._resource(params.resource)
        if resource is None:
            raise AuthorizeError("invalid_target", "The portal has no such resource.")
        record = await self._parts.clients.find(client.client_id)
        request = ConsentRequest(
            client_id=record.client_id,
            client_name=record.name,
            client_uri=record.uri,
            redirect_uri=self._written(record, params.redirect_uri),
            explicit=params.redirect_uri_provided_explicitly,
            resource=resource,
            scope=scope_of(params.scopes or ()),
            challenge=params.code_challenge,
            state=params.state,
            base=self._base,
        )
        self.asked = f"{self._base}/consent?request={self._parts.consents.seal(request)}"
        return self.asked

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        """The code, where it is this client's and was not used; a used one ends its grant."""
        found = await self._parts.grants.code(digest(authorization_code))
        if found is None:
            return None
        code, spent = found
        grant = await self._grant(code.grant, client)
        if grant is None:
            return None
        if spent:
            await self._end_reused("code", grant)
            return None
        return AuthorizationCode(
            code=authorization_code,
            scopes=list(grant.scope),
            expires_at=code.expires.timestamp(),
            client_id=client.client_id,
            code_challenge=code.challenge,
            redirect_uri=AnyUrl(code.redirect_uri),
            redirect_uri_provided_explicitly=code.explicit,
            resource=grant.resource,
            subject=grant.person,
        )

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        """The first tokens of a grant.

        Raises:
            TokenError: the code was used meanwhile, its grant has ended, or it is for another
                resource.
        """
        text = digest(authorization_code.code)
        found = await self._parts.grants.code(text)
        grant = None if found is None else await self._grant(found[0].grant, client)
        if grant is None:
            _refuse("The authorization code is no longer good.")
        self._check_resource(grant)
        if not await self._parts.grants.spend_code(text):
            await self._end_reused("code", grant)
            _refuse("The authorization code was used before.")
        return await self._issue(grant, grant.scope)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        """The refresh token, where it is this client's; a used one ends its grant."""
        found = await self._parts.grants.refresh(digest(refresh_token))
        if found is None:
            return None
        kept, spent = found
        grant = await self._grant(kept.grant, client)
        if grant is None:
            return None
        if spent:
            await self._end_reused("refresh token", grant)
            return None
        return RefreshToken(
            token=refresh_token,
            client_id=client.client_id,
            scopes=list(grant.scope),
            expires_at=int(kept.expires.timestamp()),
            resource=grant.resource,
            subject=grant.person,
        )

    async def exchange_refresh_token(
        self,
        client: OAuthClientInformationFull,
        refresh_token: RefreshToken,
        scopes: list[str],
    ) -> OAuthToken:
        """New tokens for a refresh token, which is used up.

        Raises:
            TokenError: the refresh token was used meanwhile, its grant has ended, or it is for
                another resource.
        """
        text = digest(refresh_token.token)
        found = await self._parts.grants.refresh(text)
        grant = None if found is None else await self._grant(found[0].grant, client)
        if grant is None:
            _refuse("The refresh token is no longer good. Sign in again.")
        self._check_resource(grant)
        if not await self._parts.grants.spend_refresh(text):
            await self._end_reused("refresh token", grant)
            _refuse("The refresh token was used before. Sign in again.")
        return await self._issue(grant, scope_of(scopes))

    async def load_access_token(self, token: str) -> AccessToken | None:
        """An access token of ours that is still good, for its revocation."""
        path = self._path(token)
        try:
            identity = None if path is None else await self._parts.tokens.identify(token, path)
        except BadCredential:
            return None
        grant = None if identity is None else await self._parts.grants.get(_grant_id(identity))
        if grant is None:
            return None
        return AccessToken(
            token=token,
            client_id=grant.client_id,
            scopes=list(grant.scope),
            claims={"grant": grant.id},
        )

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """Revoke the grant of a token."""
        if isinstance(token, AccessToken):
            await self._end(str((token.claims or {})["grant"]))
            return
        found = await self._parts.grants.refresh(digest(token.token))
        if found is not None:
            await self._end(found[0].grant)

    async def exchange_identity_assertion(
        self, client: OAuthClientInformationFull, params: IdentityAssertionParams
    ) -> OAuthToken:
        """Not offered: the portal signs people in itself."""
        raise TokenError("unsupported_grant_type", "Assertions are not taken here.")

    def _written(self, client: ClientRecord, checked: AnyUrl) -> str:
        """The redirect URI as the client writes it, where it is letter by letter a known one.

        Otherwise it is the normalised one that was checked, lest a browser read it differently.
        """
        given = self._said.get("redirect_uri", client.redirect_uris[0])
        known = redirect_uris.matches(client.redirect_uris, given)
        return given if known else str(checked)

    def _resource(self, asked: str | None) -> str | None:
        if not asked:
            return self._base
        path = self._parts.site.resource_path(asked)
        if path is None or not self._parts.is_resource(path):
            return None
        return self._base + path

    def _check_resource(self, grant: Grant) -> None:
        """A token request may name the resource of its grant and no other (RFC 8707, 2.2)."""
        asked = self._said.get("resource")
        if asked and not self._parts.site.same(asked, grant.resource):
            raise TokenError("invalid_target", f"The grant is for {grant.resource}.")

    def _path(self, token: str) -> str | None:
        """A path at which an access token would be good, by what it says of itself."""
        read = unverified(token)
        audience = audiences(read.claims) if read else ()
        return self._parts.site.resource_path(audience[0]) if audience else None

    async def _grant(self, grant_id: str, client: OAuthClientInformationFull) -> Grant | None:
        """The grant, where it stands, is this client's, and its person is still there."""
        grant = await self._parts.grants.get(grant_id)
        if grant is None or grant.revoked is not None or grant.client_id != client.client_id:
            return None
        if self._ends(grant).timestamp() <= self._parts.clock():
            return None
        return grant if await self._parts.people.get(grant.person) else None

    def _ends(self, grant: Grant) -> datetime:
        """When the person must sign in again, however often the client has refreshed."""
        return grant.created + self._parts.grant_lifetime

    async def _issue(self, grant: Grant, scope: tuple[str, ...]) -> OAuthToken:
        now = self._parts.clock()
        refresh = secrets.token_urlsafe(32)
        expires = datetime.fromtimestamp(now, UTC) + self._parts.refresh_lifetime
        expires = min(expires, self._ends(grant))
        # The refresh token first: to add it notes that the grant is in use.
        try:
            kept = KeptRefreshToken(grant.id, expires)
            await self._parts.grants.add_refresh(kept, digest(refresh))
        except LookupError:  # revoked in this moment
            _refuse("The access was revoked. Sign in again.")
        access, expires_in = self._parts.tokens.issue(grant, self._base, now, scope)
        return OAuthToken(
            access_token=access,
            expires_in=expires_in,
            scope=" ".join(scope),
            refresh_token=refresh,
        )

    async def _end_reused(self, kind: str, grant: Grant) -> None:
        await self._end(grant.id)
        self._parts.reused(kind, grant)

    async def _end(self, grant_id: str) -> None:
        await self._parts.grants.revoke([grant_id])
        await self._parts.revocations.revoke(_GRANT + grant_id)


def scope_of(scopes: Iterable[str]) -> tuple[str, ...]:
    """The scopes of a grant: the highest tier asked for and all below it.

    A scope is a ceiling, not a right: the rules decide the person's tier at each call. So a
    client that asks for nothing gets the highest one, and needs no second consent later on.
    """
    asked = [Tier(scope) for scope in scopes if scope in SCOPES]
    highest = max(asked, default=Tier.MEMBERS)
    return tuple(scope for scope in SCOPES if Tier(scope) <= highest)


def _grant_id(identity: Identity) -> str:
    tags = (tag for tag in identity.tags if tag.startswith(_GRANT))
    return next(tags, _GRANT).removeprefix(_GRANT)


def _refuse(why: str) -> NoReturn:
    raise TokenError("invalid_grant", why)
