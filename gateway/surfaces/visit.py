"""One HTTP request as every surface sees it: who calls, under which id, from where."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import Scope

from auth import Caller


@dataclass(frozen=True, slots=True)
class Visit:
    """What the door found out about a request before any surface sees it.

    Attributes:
        caller: who calls.
        request_id: the id that logs, the audit record and errors carry.
        headers: the headers, names in lower case; the last of doubled ones.
        raw_headers: the same as they came in.
        local: whether it came in by the portal's own socket, from the same user.
        only: a plugin's name, where the endpoint serves one plugin alone.
    """

    caller: Caller
    request_id: str
    headers: dict[str, str]
    raw_headers: list[tuple[bytes, bytes]]
    local: bool = False
    only: str | None = None

    def surface(self, name: str) -> str:
        """What the audit record calls the way in: the surface's name, or ``cli``."""
        return "cli" if self.local else name


def visit_of(scope: Scope) -> Visit:
    """The visit that the door put into the scope."""
    visit: Visit = scope["porch.visit"]
    return visit
