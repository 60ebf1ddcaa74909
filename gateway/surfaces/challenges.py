"""The challenges that start a client's sign-in: 401 and 403 with ``WWW-Authenticate``."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

from auth import Tier

MCP_PATH = "/mcp"
"""The MCP endpoint that takes everyone."""

MEMBERS_PATH = "/members/mcp"
"""The same endpoint, where it always asks for a sign-in."""

DOORS = frozenset({MCP_PATH, MEMBERS_PATH})
"""The two addresses of one endpoint: a token for one of them is good at the other."""

METADATA_PATH = "/.well-known/oauth-protected-resource"
"""Where protected resource metadata is, before the resource's own path (RFC 9728, 3.1)."""

Challenged = Literal["auto", "sentence", "http"]
"""Who is challenged for a call above their tier: ``sign_in.challenge`` of ``portal.yaml``."""

_MCP = re.compile(r"/mcp(/[A-Za-z0-9_-]+)?|" + MEMBERS_PATH)


def bearer_challenge(
    base: str, path: str, *, error: str | None = None, scope: Tier | None = None
) -> tuple[bytes, bytes]:
    """The ``WWW-Authenticate`` header of a path (RFC 6750, section 3; RFC 9728, section 5.1).

    Args:
        base: the portal's address as the client sees it.
        path: the path that was asked for.
        error: ``invalid_token`` or ``insufficient_scope``; None where no token was sent.
        scope: everything that the request needs.
    """
    url = urlsplit(base)
    resource = url.path + (path if is_mcp(path) else "")
    parts = {
        "error": error,
        "scope": scope,
        "resource_metadata": f"{url.scheme}://{url.netloc}{METADATA_PATH}{resource}",
    }
    said = ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)
    return b"www-authenticate", f"Bearer {said}".encode()


def is_mcp(path: str) -> bool:
    """Whether a path is an MCP endpoint, with protected resource metadata of its own."""
    return _MCP.fullmatch(path) is not None
