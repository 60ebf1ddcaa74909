"""Each member's own account at a server: the portal is the OAuth client, the member agrees."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from weakref import WeakValueDictionary

from gateway.contract import Caller, Connection, ConnectionNeeded, Departure, Place, ToolFailed
from gateway.toolkit.retry import Retry
from plugins.upstreams.credential_settings import MemberOAuth
from plugins.upstreams.credentials import tokens as endpoint
from plugins.upstreams.credentials.authorization import code_of, departure, tokens_for
from plugins.upstreams.credentials.credential import EVERYBODY, Lacking, with_variables
from plugins.upstreams.credentials.discovery import Issuer, discover
from plugins.upstreams.credentials.oauth_http import OAuthFailed, OAuthHttp
from plugins.upstreams.credentials.registration import Registration
from plugins.upstreams.credentials.tokens import Tokens, taken, union
from plugins.upstreams.store.connections import ConnectionStore, Kept
from plugins.upstreams.wire import Unauthorized

REMEMBERED_SECONDS = 30.0
"""Seconds for which a process believes what it read of a connection."""
MAX_REMEMBERED = 10_000
SETTLED_SECONDS = 10.0
"""Seconds after a renewal in which refusals may be of the token before it."""
WAIT_SECONDS = 20.0
"""Seconds that a call waits for another's renewal."""
_POLL_SECONDS = 0.05
_PERSISTENT = Retry(retries=8, first_s=0.1, max_s=5.0, timeout_s=5.0)
"""How often the database is asked to keep what a renewal gave: for as long as the lease lasts."""
_FINAL = frozenset({"invalid_grant", "invalid_client", "unauthorized_client"})
"""Refusals after which a refresh token is of no more use."""
_SCOPE = re.compile(r"[!#-\[\]-~]{1,200}( [!#-\[\]-~]{1,200}){0,19}")
"""What a refusal may ask for: some names of RFC 6749, section 3.3."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server with accounts.

    Attributes:
        name: its name in ``portal.yaml``.
        url: its MCP endpoint.
        where: tells where it is: what was given elsewhere is not used.
    """

    name: str
    url: str
    where: str


class MemberAccounts:
    """The credential of a server whose members have accounts there.

    Args:
        target: the server.
        config: how members connect.
        store: keeps the connections.
        registration: finds the client that the portal is.
        http: asks.
        changed: called where a person's connection is another one.
    """

    def __init__(
        self,
        target: Target,
        config: MemberOAuth,
        store: ConnectionStore,
        registration: Registration,
        http: OAuthHttp,
        changed: Callable[[str, str], Awaitable[None]],
    ) -> None:
        self.server = target.name
        self._url = target.url
        self._target = target.where
        self._list_with = config.list
        self._scopes = config.scopes
        self._store = store
        self._registration = registration
        self._http = http
        self._changed = changed
        self._read: dict[str, tuple[float, Kept, Tokens]] = {}
        self._renewed_at: dict[str, float] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._reading: set[str] = set()

    # What a request carries.

    def holder(self, caller: Caller) -> str:
        """The caller's own."""
        if caller.person is None:
            raise ToolFailed(
                "sign_in_needed",
                f"{self.server} asks who you are there. Sign in to the portal, and then connect.",
            )
        return caller.person

    async def lister(self) -> str:
        """The operator's, or else that of the member who has been connected longest."""
        if self._list_with:
            return EVERYBODY
        person = await self._store.latest(self.server, self._target)
        if person is None:
            raise ToolFailed(
                "nobody_connected", "nobody has connected an account there yet, on /account"
            )
        return person

    async def headers(self, holder: str) -> Mapping[str, str]:
        """The holder's access token, renewed where it is about to end."""
        if holder == EVERYBODY:
            return with_variables(self._list_with)
        _, tokens = await self._good(holder)
        return {"Authorization": f"Bearer {tokens.access}"}

    async def refused(self, holder: str, error: Unauthorized) -> bool:
        """Renew what the server does not take; whether that is worth another try."""
        if holder == EVERYBODY:
            return False
        before = self._read.get(holder)
        self.forget(holder)
        kept, tokens = await self._found(holder)
        is_new = time.monotonic() - self._renewed_at.get(holder, float("-inf")) < SETTLED_SECONDS
        if is_new or (before is not None and kept.version != before[1].version):
            return True  # another call, or another replica, has renewed it meanwhile
        if error.status == 403:
            await self._want(kept, tokens, error.bearer.get("scope", ""))
            raise self._needed("wants to be asked with more rights than your connection has")
        if not tokens.refresh:
            await self._expire(kept, "The server does not take it any more.")
            raise self._needed("does not take your connection any more")
        await self._renewed(kept, tokens)
        return True

    async def _want(self, kept: Kept, tokens: Tokens, scope: str) -> None:
        """Keep what a server asks for beyond what was given, for when the person connects anew.

        Raises:
            ToolFailed: the admin has said what the portal asks for, and this is more.
        """
        if self._scopes:
            raise ToolFailed(
                "not_connected",
                f"{self.server} wants to be asked with more rights than this portal asks it for. "
                "Tell an admin: scopes in portal.yaml says which.",
            )
        wanted = union(tokens.wanted, scope) if _SCOPE.fullmatch(scope) else tokens.wanted
        if wanted != tokens.wanted:
            after = replace(kept, tokens=replace(tokens, wanted=wanted).text())
            await self._store.renew(kept, after)
            self.forget(kept.person)

    @property
    def trouble(self) -> str:
        """Nothing that is not told to the member."""
        return ""

    def forget(self, person: str) -> None:
        """Read a person's connection anew, the next time."""
        self._read.pop(person, None)
        self._reading.discard(person)

    async def _good(self, person: str) -> tuple[Kept, Tokens]:
        kept, tokens = await self._found(person)
        if not tokens.is_due():
            return kept, tokens
        if not tokens.refresh:
            if tokens.expires is not None and time.time() < tokens.expires:
                return kept, tokens
            await self._expire(kept, "It has ended, and the server gave nothing to renew it with.")
            raise self._needed("has ended your connection")
        return await self._renewed(kept, tokens)

    async def _found(self, person: str) -> tuple[Kept, Tokens]:
        if (remembered := self._remembered(person)) is not None:
            return remembered
        # One at a time: of two that read, the first to return may have read the later state.
        async with self._turns.setdefault(person, asyncio.Lock()):
            if (remembered := self._remembered(person)) is not None:
                return remembered
            self._reading.add(person)
            kept = await self._store.get(person, self.server)
            if kept is None or kept.target != self._target:
                raise self._needed("needs a connection to your own account there")
            if kept.status == "expired":
                raise self._needed("does not take your connection any more")
            tokens = Tokens.read(kept.tokens)
            if person in self._reading:  # else it was renewed, perhaps after it was read
                self._remember(kept, tokens)
            return kept, tokens

    def _remembered(self, person: str) -> tuple[Kept, Tokens] | None:
        at, now = self._read.get(person), time.monotonic()
        return at[1:] if at is not None and now - at[0] < REMEMBERED_SECONDS else None

    def _remember(self, kept: Kept, tokens: Tokens) -> None:
        while len(self._read) >= MAX_REMEMBERED:
            person = next(iter(self._read))
            del self._read[person]
            self._renewed_at.pop(person, None)
        self._read[kept.person] = (time.monotonic(), kept, tokens)

    # Renewing, one at a time over all replicas.

    async def _renewed(self, kept: Kept, tokens: Tokens) -> tuple[Kept, Tokens]:
        until = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < until:
            if await self._store.lease(kept):
                # Who gives up must not lose what the server has given meanwhile.
                return await asyncio.shield(asyncio.ensure_future(self._renew(kept, tokens)))
            await asyncio.sleep(_POLL_SECONDS)
            self.forget(kept.person)
            now, fresh = await self._found(kept.person)
            if now.version != kept.version:
                return now, fresh
        raise ToolFailed("busy", f"Your connection to {self.server} is being renewed. Try again.")

    async def _renew(self, kept: Kept, tokens: Tokens) -> tuple[Kept, Tokens]:
        fields = {"refresh_token": tokens.refresh, "resource": tokens.resource}
        try:
            answer = await endpoint.ask(
                self._http, tokens.endpoint, tokens.client, "refresh_token", fields
            )
        except OAuthFailed as failed:
            if failed.code in _FINAL:
                await self._expire(kept, "The server has refused to renew it.")
                raise self._needed("does not take your connection any more") from None
            await self._store.release(kept)
            if tokens.expires is not None and time.time() < tokens.expires:
                return kept, tokens
            raise ToolFailed(
                "unavailable",
                f"Your connection to {self.server} cannot be renewed right now: "
                f"{failed.message} Try again in a minute.",
            ) from None
        except BaseException:
            await self._store.release(kept)
            raise
        after = self._with(kept, taken(answer, tokens))
        # The token before it may be of no more use: what was given must not be lost.
        await _PERSISTENT(lambda: self._store.renew(kept, after), lambda _: None)
        self.forget(kept.person)
        self._renewed_at[kept.person] = time.monotonic()
        return await self._found(kept.person)

    def _with(self, kept: Kept, tokens: Tokens) -> Kept:
        # What can be renewed has no end that the person need know.
        ends = None if tokens.refresh or tokens.expires is None else tokens.expires
        expires = None if ends is None else datetime.fromtimestamp(ends, UTC)
        return replace(kept, tokens=tokens.text(), expires=expires, status="connected", detail="")

    async def _expire(self, kept: Kept, why: str) -> None:
        await self._store.renew(kept, replace(kept, status="expired", detail=why))
        await self._changed(kept.person, self.server)

    def _needed(self, what: str) -> ConnectionNeeded:
        return ConnectionNeeded(self.server, f"{self.server} {what}.")

    # Connecting.

    async def listed(self, caller: Caller) -> Connection:
        """How a person's connection is."""
        kept = await self._store.get(caller.person or "", self.server)
        if kept is None or kept.target != self._target:
            return Connection(self.server, "none")
        return Connection(self.server, kept.status, kept.expires, kept.detail)

    async def lacking(self, caller: Caller) -> Lacking | None:
        """Whether a person has to connect before the server can be asked for them."""
        found = await self.listed(caller)
        if found.status == "connected":
            return None
        if found.status == "expired":
            why = f"Your connection to {self.server} has ended: connect anew on your account page."
            return Lacking("expired", why, "")
        why = f"{self.server} asks for an account of yours there: connect it on your account page."
        return Lacking("needed", why, "")

    async def begin(self, caller: Caller, place: Place) -> Departure:
        """Where a person agrees that the portal asks for them.

        Raises:
            ToolFailed: the server's authorization server cannot be used.
        """
        try:
            issuer = await discover(self._http, self._url)
            client = await self._registration.client(issuer, place)
        except OAuthFailed as failed:
            raise self._not_connected(failed) from None
        return departure(issuer, client, place, await self._scope(issuer, caller))

    async def _scope(self, issuer: Issuer, caller: Caller) -> str:
        """What a person is asked to agree to; once more was wanted, all of it (SEP-2350)."""
        if self._scopes:
            return " ".join(self._scopes)
        kept = await self._store.get(caller.person or "", self.server)
        before = Tokens.read(kept.tokens) if kept and kept.target == self._target else None
        if before is None or not before.wanted:
            return issuer.scope
        return union(issuer.scope, before.scope, before.wanted)

    async def finish(
        self, caller: Caller, place: Place, query: Mapping[str, str], remembered: Mapping[str, Any]
    ) -> None:
        """Keep what the authorization server gives for its answer.

        Raises:
            ToolFailed: the answer is not to what was begun, or it gives nothing.
        """
        try:
            issuer = await discover(self._http, self._url)
            code = code_of(query, remembered, issuer)
            client = await self._registration.client(issuer, place)
            tokens = await tokens_for(code, self._http, issuer, client, place, remembered)
        except OAuthFailed as failed:
            raise self._not_connected(failed) from None
        person = self.holder(caller)
        await self._store.keep(self._with(Kept(person, self.server, self._target, ""), tokens))
        await self._changed(person, self.server)

    async def end(self, caller: Caller) -> None:
        """Forget what is kept of a person."""
        person = self.holder(caller)
        await self._store.forget(person, self.server)
        await self._changed(person, self.server)

    def _not_connected(self, failed: OAuthFailed) -> ToolFailed:
        return ToolFailed("not_connected", f"{self.server} is not connected. {failed.message}")
