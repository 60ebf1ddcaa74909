"""Cross-origin resource sharing: what pages of other origins may do at which address.

Browsers ask by a preflight and read only what an answer allows (WHATWG Fetch, section 3.2).
Three kinds of address are shared: ``/mcp`` with the pages of ``allowed_origins``, whatever they
send; the REST API and the server card for reading, and OAuth's endpoints for its clients, with
every page. None takes cookies from elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from gateway.config.addresses import (
    API_PATH,
    CARD_PATH,
    CATALOG_PATHS,
    OAUTH_POST_PATHS,
    WELL_KNOWN_PATH,
    is_mcp,
)
from gateway.contract import Allowance, Api, Offer
from gateway.scrubbing.report import HEADER

_PREFLIGHT_LIFETIME_SECONDS = 86_400
_READS = ("GET", "HEAD", "OPTIONS")
_FAILURE_HEADERS = ("Retry-After", "WWW-Authenticate", "X-Request-Id")
_MCP_HEADERS = ("Mcp-Session-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", *_FAILURE_HEADERS)
_REST_HEADERS = ("ETag", "X-Request-Id", "RateLimit", "RateLimit-Policy", "Retry-After", HEADER)


class Sharing(CORSMiddleware):
    """What pages of other origins may do at one kind of address.

    Args:
        methods: the methods that they may use.
        takes: the request headers that they may send; ``*`` is any.
        exposes: the answer's headers that they may read.
        everyone: whether every page may, or those of the portal's origins alone.
    """

    def __init__(
        self,
        methods: Sequence[str],
        takes: Sequence[str],
        exposes: Sequence[str],
        *,
        everyone: bool,
    ) -> None:
        super().__init__(
            Response(status_code=404),  # never served: the HTTP guard asks this for headers alone
            allow_origins=["*"] if everyone else [],
            allow_methods=methods,
            allow_headers=takes,
            expose_headers=exposes,
            max_age=_PREFLIGHT_LIFETIME_SECONDS,
        )

    def is_allowed_origin(self, origin: str) -> bool:
        """Always: the HTTP guard has turned away what is foreign before it asks for words here."""
        return True

    def takes_any_origin(self, method: str) -> bool:
        """Whether a request of a method may come from any page; a preflight changes nothing."""
        return self.allow_all_origins and (method in self.allow_methods or method in _READS)


_MCP = Sharing(["GET", "POST", "DELETE"], ["*"], _MCP_HEADERS, everyone=False)
# Clients send their own headers (Mcp-Param-*, an upstream's credential), so each is taken.


class Cors:
    """Says which origins are the portal's own, and what pages of others may do where.

    Args:
        origins: Origin headers of the portal's own and of ``allowed_origins``; ``name:*`` stands
            for any port.
    """

    def __init__(self, origins: Collection[str]) -> None:
        self._origins = frozenset(map(str.lower, origins))
        self._rest = {API_PATH: _rest(())}

    def cover(self, offers: Collection[Offer]) -> None:
        """Take in the open plugins, whose APIs have paths and headers of their own."""
        apis = [api for offer in offers for api in offer.apis]
        rest = {API_PATH: _rest([name for api in apis for name in _headers_of(api)])}
        rest |= {prefix: _rest(_headers_of(api)) for api in apis for prefix in api.prefixes}
        self._rest = rest

    def is_foreign(self, origin: str, method: str, sharing: Sharing | None) -> bool:
        """Whether a page of an origin may not send a request to where there is such a sharing."""
        if sharing is not None and sharing.takes_any_origin(method):
            return False
        return not is_listed(origin, self._origins)

    def at(self, path: str) -> Sharing | None:
        """What pages of other origins may do at a path; None where it is for the own ones alone."""
        if is_mcp(path):
            return _MCP
        if path == CARD_PATH or path in CATALOG_PATHS:
            return _DISCOVERY
        if path in OAUTH_POST_PATHS:
            return _OAUTH_POST
        if path.startswith(WELL_KNOWN_PATH + "/"):
            return _OAUTH_GET
        under = [prefix for prefix in self._rest if path == prefix or path.startswith(prefix + "/")]
        return self._rest[max(under, key=len)] if under else None


def is_listed(value: str, allowed: Collection[str]) -> bool:
    """Whether a Host or an Origin is one of those; ``name:*`` stands for any port."""
    value = value.lower()
    if value in allowed:
        return True
    name, _, port = value.rpartition(":")
    return port.isdigit() and f"{name}:*" in allowed


def _oauth(method: str) -> Sharing:
    takes = ["Authorization", "Content-Type", "MCP-Protocol-Version"]
    return Sharing([method], takes, _FAILURE_HEADERS, everyone=True)


_DISCOVERY = Sharing(_READS, ["Content-Type", "If-None-Match"], ["ETag"], everyone=True)
_OAUTH_GET, _OAUTH_POST = _oauth("GET"), _oauth("POST")


def _rest(also: Sequence[str]) -> Sharing:
    takes = ["Authorization", "If-None-Match"]
    return Sharing(_READS, takes, [*_REST_HEADERS, *also], everyone=True)


def _headers_of(api: Api) -> list[str]:
    return list(api.headers(Allowance(1, 1, 1)))
