"""Who calls, from where and by which address: found out once, and the same until the answer."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from auth import Caller

WhoNow = Callable[[], Coroutine[Any, Any, Caller]]
"""Finds out once more who calls; raises ``BadCredential`` where the credential has ended."""


class CallContext(NamedTuple):
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
    """

    caller: Caller
    request_id: str
    headers: dict[str, str]
    raw_headers: list[tuple[bytes, bytes]]
    again: WhoNow
    peer: str
    base: str
    path: str = ""
    local: bool = False
    only: str | None = None

    def __repr__(self) -> str:
        """Which request it is; what the headers hold is in no representation."""
        return f"CallContext({self.request_id})"

    def way(self, surface: str) -> str:
        """What the audit record calls the way in: the surface's name, or ``cli``."""
        return "cli" if self.local else surface
