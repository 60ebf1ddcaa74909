"""Each member's own token at a server, in exchange for the portal's word about them (RFC 8693).

Nothing is asked of the member, and nothing is stored: a token is held in memory until shortly
before its end, and what the member presents to the portal is never sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from gateway.contract import Assertion, Caller, Exchange, ToolFailed
from plugins.upstreams.credential_settings import TokenExchange
from plugins.upstreams.credentials import tokens as endpoint
from plugins.upstreams.credentials.credential import EVERYBODY, Lacking, with_variables
from plugins.upstreams.credentials.oauth_http import OAuthFailed, OAuthHttp
from plugins.upstreams.credentials.tokens import OAuthClient, Tokens, taken
from plugins.upstreams.wire import Unauthorized

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105
JWT = "urn:ietf:params:oauth:token-type:jwt"
UNSAID_SECONDS = 300.0
"""Seconds for which a token is used whose end nobody said."""
SETTLED_SECONDS = 10.0
"""Seconds after another exchange in which refusals may be of the token before it."""
REFUSED_SECONDS = 5.0
"""Seconds for which a refusal is told again without asking again."""
MAX_REMEMBERED = 10_000
ACCOUNT_NEEDED = "account_needed"
"""The code where a member has no account at the other side."""
_OF_THE_MEMBER = frozenset({"invalid_request", "invalid_grant", "access_denied"})
"""Refusals of the one whom an assertion is about (RFC 8693, section 2.2.2)."""


class ExchangedTokens:
    """The credential of a server that takes what an authorization server gives in exchange.

    Args:
        server: its name in ``portal.yaml``.
        config: where and how tokens are exchanged; it names what they are for.
        http: asks.
        secret: reads a secret that a setting names.
        exchange: gives the call that is running, whose caller a token is asked for.
        log: tells of refusals.

    Attributes:
        trouble: what an admin has to mend, to be read after the server's name.
    """

    def __init__(
        self,
        server: str,
        config: TokenExchange,
        http: OAuthHttp,
        secret: Callable[[str], str],
        exchange: Callable[[], Exchange],
        log: FilteringBoundLogger,
    ) -> None:
        self.server = server
        self._config = config
        self._http = http
        self._secret = secret
        self._exchange = exchange
        self._log = log.bind(server=server)
        self.trouble = ""
        self._held: dict[str, Tokens] = {}
        self._again: dict[str, float] = {}
        self._refused: dict[str, tuple[float, ToolFailed]] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def holder(self, caller: Caller) -> str:
        """The caller's own."""
        if caller.person is None:
            raise ToolFailed(
                "sign_in_needed", f"{self.server} asks who you are. Sign in to the portal."
            )
        return caller.person

    async def lister(self) -> str:
        """The portal's own."""
        return EVERYBODY

    async def headers(self, holder: str) -> Mapping[str, str]:
        """The holder's token, exchanged anew where it is about to end."""
        if holder == EVERYBODY and self._config.list:
            return with_variables(self._config.list)
        tokens = self._held.get(holder)
        if tokens is None or tokens.is_due():
            tokens = await self._exchanged(holder)
        return {"Authorization": f"Bearer {tokens.access}"}

    async def lacking(self, caller: Caller) -> Lacking | None:
        """Whether the last exchange for a caller has found no account of theirs."""
        _, failed = self._refused.get(caller.person or "", (0.0, None))
        if failed is None or failed.code != ACCOUNT_NEEDED:
            return None
        return Lacking("needed", failed.message, "")

    async def refused(self, holder: str, error: Unauthorized) -> bool:
        """Exchange anew what the server does not take; whether that is worth another try."""
        if holder == EVERYBODY and self._config.list:
            return False
        if error.status != 401:
            raise self._misconfigured("it wants a token with more rights, see scope and audience")
        again = self._again.get(holder)
        if again is not None and time.monotonic() - again < SETTLED_SECONDS:
            return True  # of another call that was refused along with this one
        self._again[holder] = time.monotonic()
        self._held.pop(holder, None)
        await self._exchanged(holder)
        return True

    def forget(self, person: str) -> None:
        """Hold nothing of a person."""
        for each in (self._held, self._again, self._refused):
            each.pop(person, None)

    async def _exchanged(self, holder: str) -> Tokens:
        """A token that is good, by one exchange at a time."""
        turn = self._turns.setdefault(holder, asyncio.Lock())
        async with turn:
            tokens = self._held.get(holder)
            if tokens is not None and not tokens.is_due():
                return tokens
            at, told = self._refused.get(holder, (float("-inf"), None))
            if told is not None and time.monotonic() - at < REFUSED_SECONDS:
                raise ToolFailed(told.code, told.message, told.details)
            try:
                fresh = await self._asked(holder)
            except ToolFailed:
                if tokens is not None and time.time() < (tokens.expires or 0.0):
                    return tokens
                raise
            self.trouble = ""
            self._refused.pop(holder, None)
            self._remember(self._held, holder, fresh)
            return fresh

    def _remember(self, known: dict[str, Any], holder: str, value: Any) -> None:
        while len(known) >= MAX_REMEMBERED:
            self.forget(next(iter(known)))
        known[holder] = value

    async def _asked(self, holder: str) -> Tokens:
        client = self._client()
        if holder == EVERYBODY:
            return await self._portals_own(client)
        assertion = await self._exchange().assertion(self._config.audience_of_assertions)
        if assertion.person != holder:
            raise ToolFailed("no_call", f"{self.server} is asked for somebody who does not call.")
        fields = {
            "subject_token": assertion.token,
            "subject_token_type": JWT,
            "requested_token_type": ACCESS_TOKEN,
        }
        try:
            return await self._given(client, GRANT, fields)
        except OAuthFailed as refusal:
            failed = self._failed(refusal, assertion)
            self._remember(self._refused, holder, (time.monotonic(), failed))
            raise failed from None

    async def _portals_own(self, client: OAuthClient) -> Tokens:
        """What the portal itself may do there: see what the server offers (RFC 6749, 4.4)."""
        try:
            return await self._given(client, "client_credentials", {})
        except OAuthFailed as refusal:
            raise self._failed(refusal, None) from None

    async def _given(self, client: OAuthClient, grant: str, fields: Mapping[str, str]) -> Tokens:
        config = self._config
        url, resource = config.token_endpoint, config.resource or ""
        wished = {"audience": config.audience, "resource": resource, "scope": config.scope}
        asked = {**fields, **{name: each for name, each in wished.items() if each}}
        answer = await endpoint.ask(self._http, url, client, grant, asked)
        if answer.get("issued_token_type", ACCESS_TOKEN) not in (ACCESS_TOKEN, JWT):
            raise OAuthFailed("The authorization server gives a token that is none of access.")
        # A refresh token would only be one more secret: the portal's word is always at hand.
        given = taken(answer, Tokens("", "", None, 0.0, url, resource, client))
        tokens = replace(given, refresh="")
        if tokens.expires is None:
            ends = time.time() + UNSAID_SECONDS
            return replace(tokens, expires=ends, lifetime=UNSAID_SECONDS)
        return tokens

    def _client(self) -> OAuthClient:
        config = self._config
        if config.client_secret is None:
            return OAuthClient(config.client_id)
        try:
            secret = self._secret(config.client_secret)
        except ValueError:
            raise self._misconfigured("the portal's client_secret cannot be read") from None
        return OAuthClient(config.client_id, secret, config.token_endpoint_auth_method)

    # What goes wrong, and who must act.

    def _failed(self, failed: OAuthFailed, about: Assertion | None) -> ToolFailed:
        self._log.warning("token_exchange_failed", reason=failed.message)
        if failed.code in _OF_THE_MEMBER and about is not None:
            return ToolFailed(
                ACCOUNT_NEEDED,
                f"{self.server} has no account for you: its authorization server gives no token "
                f"({failed.code}). It knows you as {about.subject} of {about.issuer}: have that "
                "linked to an account of yours there. If others are refused too, tell an admin.",
                {"server": self.server, "subject": about.subject, "issuer": about.issuer},
            )
        if failed.code:
            return self._misconfigured(f"its authorization server answers {failed.code}")
        return ToolFailed(
            "unavailable",
            f"{self.server} cannot be asked for you right now: {failed.message} "
            "Try again in a minute.",
            {"server": self.server},
        )

    def _misconfigured(self, why: str) -> ToolFailed:
        self.trouble = f"cannot be asked for members: {why} (credential.exchange)"
        return ToolFailed(
            "misconfigured",
            f"{self.server} cannot be asked: {why}. An admin of this portal has to mend "
            f"credential.exchange of {self.server} in portal.yaml.",
            {"server": self.server},
        )
