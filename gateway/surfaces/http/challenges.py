"""The challenges that start a client's sign-in: 401 and 403 with ``WWW-Authenticate``."""

from __future__ import annotations

from urllib.parse import urlsplit

from auth import Tier
from gateway.config.addresses import METADATA_PATH, is_mcp


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
    parameters = ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)
    return b"www-authenticate", f"Bearer {parameters}".encode()
