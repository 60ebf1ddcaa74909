"""Who calls, from where and by which address: found out once, and the same until the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from auth import Caller

WhoNow = Callable[[], Awaitable[Caller]]
"""Finds out once more who calls; raises ``BadCredential`` where the credential has ended."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What is known of a request before any surface sees it.

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
        only: a plugin's name, where the address serves one plugin alone.

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

    def way(self, surface: str) -> str:
        """What the audit record calls the way in: the surface's name, or ``cli``."""
        return "cli" if self.local else surface
