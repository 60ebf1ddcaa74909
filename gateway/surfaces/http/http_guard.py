"""The HTTP guard: the first thing a request meets, whatever it wants.

It gives the request an id, turns away a foreign Host or Origin (DNS rebinding), and finds out
who is calling. Pure ASGI, so that it costs little and streams pass through it untouched.
"""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable, Collection
from functools import lru_cache, partial
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth import ANONYMOUS, BadCredential, Caller, Tier
from auth.credentials import UncheckedCredential, UnknownCredential, presented
from auth.portal_addresses import Site
from auth.stores import StoreUnavailable
from gateway.config.addresses import CLIENT_PATHS, plugin_of
from gateway.contract.apis import Refusal
from gateway.observability.logs import get_logger
from gateway.observability.logs import request_id as current_request_id
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http.challenges import bearer_challenge
from gateway.surfaces.http.client_address import client_address
from gateway.surfaces.http.cors import Cors, Sharing, is_listed
from gateway.surfaces.http.error_formats import PLAIN, ErrorFormat
from gateway.surfaces.http.errors import RETRY_AFTER_SECONDS, UNAVAILABLE
from gateway.surfaces.http.request_context import KEY, doubled
from gateway.surfaces.http.websocket_refusal import over_http
from gateway.toolkit.spans import before_call

_ANY_HOST = frozenset({"/healthz", "/readyz"})
_IMPLIED_PORT = re.compile(r"(\[[^][]*\]|[^:]+):(?:80|443)", re.ASCII)
_AS_TIER = "x-porch-as"
_PREFLIGHT = "access-control-request-method"
_SERVED = frozenset({"http", "websocket"})
_BEGINS = frozenset({"http.response.start", "websocket.accept"})

_numbers = random.Random()  # noqa: S311  (no secret is made of it)
"""Where request ids come from: they tell requests apart and open nothing, so that the system need
not be asked for each."""

log = get_logger(__name__)

RawHeaders = list[tuple[bytes, bytes]]
"""Header names, in lower case, and values as they came in."""


WhoCalls = Callable[[RawHeaders, str], Awaitable[Caller]]
"""Says who is calling, from raw headers and for a path; raises ``BadCredential``."""

TakesBearer = Callable[[str, str], bool]
"""Whether what a path leads to takes a bearer token that is none of the portal's."""

Speaks = Callable[[str], ErrorFormat]
"""Says in which dialect a path's refusals are told."""


def _speaks_plainly(path: str) -> ErrorFormat:
    return PLAIN


def _takes_none(path: str, token: str) -> bool:
    return False


class HttpGuard:
    """Lets requests in.

    Args:
        app: what lies behind.
        who_calls: says who is calling.
        site: the portal's own addresses.
        hosts: Host headers to accept; ``name:*`` stands for any port.
        cors: says which pages may do what.
        speaks: says how refusals are told.
        takes_bearer: says so of a token that nobody here knows; its caller is anonymous.
    """

    def __init__(
        self,
        app: ASGIApp,
        who_calls: WhoCalls,
        site: Site,
        hosts: Collection[str],
        cors: Cors,
        speaks: Speaks = _speaks_plainly,
        takes_bearer: TakesBearer = _takes_none,
    ) -> None:
        self._app = app
        self._who_calls = who_calls
        self._speaks = speaks
        self._takes_bearer = takes_bearer
        self._site = site
        self._hosts = frozenset(map(str.lower, hosts))
        self._cors = cors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] not in _SERVED:
            await self._app(scope, receive, send)
            return
        raw: RawHeaders = scope["headers"]
        # RFC 9110, 5.5: white space around a value is no part of it.
        headers = {
            key.decode("latin-1"): value.decode("latin-1").strip(" \t") for key, value in raw
        }
        request_id = f"{_numbers.getrandbits(64):016x}"
        current_request_id.set(request_id)
        send = _marked(over_http(scope, send), request_id)
        local = scope.get("porch.local", False)
        sharing = self._cors.at(scope["path"]) if scope["type"] == "http" else None
        if not local and (refusal := self._foreign(headers, scope, sharing)):
            refused = Refusal(refusal[0], "foreign_" + refusal[1], refusal[2], request_id)
            await self._speaks(scope["path"]).refuse(send, refused)
            return
        if sharing is not None and ("origin" in headers or sharing.allow_all_origins):
            # Without an origin too: a cache may keep the answer, and give it to a page.
            asked = Headers(raw=raw)
            if scope["method"] == "OPTIONS" and {"origin", _PREFLIGHT} <= headers.keys():
                await sharing.preflight_response(asked)(scope, receive, send)
                return
            send = partial(sharing.send, send=send, request_headers=asked)
        context = await self._context(scope, headers, request_id, send)
        if context is not None:
            scope[KEY] = context
            try:
                await self._app(scope, receive, send)
            finally:
                del scope[KEY]  # it holds the scope; a cycle would wait for the collector

    async def _context(
        self, scope: Scope, headers: dict[str, str], request_id: str, send: Send
    ) -> CallContext | None:
        """Who calls from where; None where that is refused, which the answer has said then."""
        path, local = scope["path"], scope.get("porch.local", False)
        base = self._site.base(headers.get("host", ""))
        again = partial(self._caller, scope, headers, local=local)
        try:
            with before_call("identity"):
                caller = await again()
        except (StoreUnavailable, UncheckedCredential) as error:
            refused = Refusal(503, "unavailable", _why_not_now(error), request_id)
            wait = (b"retry-after", str(RETRY_AFTER_SECONDS).encode())
            await self._speaks(path).refuse(send, refused, (wait,))
            return None
        except BadCredential as bad:
            challenge = bearer_challenge(base, path, error="invalid_token")
            refused = Refusal(401, "invalid_token", bad.reason, request_id)
            await self._speaks(path).refuse(send, refused, (challenge,))
            return None
        raw, address = scope["headers"], client_address(scope)
        return CallContext(
            caller, request_id, headers, raw, again, address, base, path, local, plugin_of(path)
        )

    def _foreign(
        self, headers: dict[str, str], scope: Scope, sharing: Sharing | None
    ) -> tuple[int, str, str] | None:
        raw: RawHeaders = scope["headers"]
        if len(headers) < len(raw) and "host" in doubled(headers, raw):
            # RFC 9112, 3.2. Not every server sees to it, and who reads which one is anyone's guess.
            return 400, "host", "The request names its host twice. Send one Host header."
        host, path = headers.get("host", ""), scope["path"]
        if path not in _ANY_HOST and not _is_host(host, self._hosts):
            return (
                421,
                "host",
                (
                    f"This portal does not answer to the host {quote(host[:100], safe=':[].')}. "
                    "Its admin sets public_url or allowed_hosts in portal.yaml."
                ),
            )
        # A browser lets every page open a WebSocket, and read it.
        method = scope.get("method", "WEBSOCKET")
        if "origin" in headers and self._cors.is_foreign(headers["origin"], method, sharing):
            return (
                403,
                "origin",
                (
                    "Pages of this origin may not use the portal. Its admin sets allowed_origins "
                    "in portal.yaml."
                ),
            )
        return None

    async def _caller(self, scope: Scope, headers: dict[str, str], *, local: bool) -> Caller:
        as_tier = headers.get(_AS_TIER)
        if local and as_tier in set(Tier):
            why = "The portal's own user asked to act at this tier, over the local socket."
            return Caller(person="local", tier=Tier(as_tier), reasons=(why,), admin=True)
        if scope["path"] in CLIENT_PATHS:
            return ANONYMOUS
        if b"access_token=" in scope["query_string"]:
            # RFC 6750, 2.3 is not supported: addresses end up in logs and histories.
            raise BadCredential("A token in the address is not taken. Send it as a header.")
        try:
            return await self._who_calls(scope["headers"], scope["path"])
        except UnknownCredential:
            credential = presented(scope["headers"])
            if credential and self._takes_bearer(scope["path"], credential[1]):
                return ANONYMOUS
            raise


@lru_cache(maxsize=1024)
def _is_host(host: str, allowed: frozenset[str]) -> bool:
    return is_listed(_without_implied_port(host), allowed)


def _without_implied_port(host: str) -> str:
    """A Host as most clients write it: some add the port that the scheme implies (RFC 9110, 4.2).

    A proxy ends TLS, so the scheme is not known here; whose name it is does not depend on it.
    """
    implied = _IMPLIED_PORT.fullmatch(host)
    return implied[1] if implied else host


def _marked(send: Send, request_id: str) -> Send:
    header = (b"x-request-id", request_id.encode())

    async def marked(message: Message) -> None:
        if message["type"] in _BEGINS:
            message["headers"] = [*message.get("headers", ()), header]
        await send(message)

    return marked


def _why_not_now(error: StoreUnavailable | UncheckedCredential) -> str:
    """What to tell a caller of whom it cannot be found out now who they are."""
    if isinstance(error, UncheckedCredential):
        log.warning("issuer_unavailable", reason=error.reason)
        return error.reason
    log.warning("stores_unavailable", reason=str(error))
    return UNAVAILABLE
