"""One HTTP request as every surface sees it: who calls, under which id, from where."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.types import Scope

from auth import Caller

WhoNow = Callable[[], Awaitable[Caller]]
"""Finds out once more who calls; raises ``BadCredential`` where the credential has ended."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What the HTTP guard found out about a request before any surface sees it.

    Attributes:
        caller: who calls.
        request_id: the id that logs, the audit record and errors carry.
        headers: the headers, names in lower case; the last of doubled ones.
        raw_headers: the same as they came in.
        again: finds out once more who calls, for a request that lasts.
        peer: where it comes from, as limits tell anonymous callers apart.
        base: the portal's address as the client sees it.
        path: the path that was asked for.
        local: whether it came in by the portal's own socket, from the same user.
        only: a plugin's name, where the endpoint serves one plugin alone.
        upstream: the caller's own credentials for upstreams, by the plugin that each is for.

    What the headers hold is in no representation of it.
    """

    caller: Caller
    request_id: str
    headers: dict[str, str] = field(repr=False)
    raw_headers: list[tuple[bytes, bytes]] = field(repr=False)
    again: WhoNow
    peer: str
    base: str
    path: str = ""
    local: bool = False
    only: str | None = None
    upstream: Mapping[str, str] = field(default_factory=dict, repr=False)

    def surface(self, name: str) -> str:
        """What the audit record calls the way in: the surface's name, or ``cli``."""
        return "cli" if self.local else name


def visit_of(scope: Scope) -> Visit:
    """The visit that the HTTP guard put into the scope."""
    visit: Visit = scope["porch.visit"]
    return visit


def wants_page(request: Request) -> bool:
    """Whether the sender of a request reads pages: a browser that was led to an address."""
    return "text/html" in request.headers.get("accept", "")
