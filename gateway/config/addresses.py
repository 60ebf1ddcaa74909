"""The paths that the portal itself answers at, and which of them share a sign-in."""

from __future__ import annotations

import re
from functools import lru_cache

MCP_PATH = "/mcp"
"""The MCP endpoint that takes everyone."""

CARD_PATH = MCP_PATH + "/server-card"
"""Where the server card is: below the endpoint that it describes (SEP-2127)."""

MEMBERS_PATH = "/members/mcp"
"""The same endpoint, where it always asks for a sign-in."""

DOORS = frozenset({MCP_PATH, MEMBERS_PATH})
"""The two addresses of one endpoint: a token for one of them is good at the other."""

API_PATH = "/api/v1"
"""Below it are the plugins' REST routes."""

WELL_KNOWN_PATH = "/.well-known"
"""Below it is what clients read before they connect or sign in (RFC 8615)."""

CATALOG_PATHS = (WELL_KNOWN_PATH + "/ai-catalog.json", WELL_KNOWN_PATH + "/mcp/catalog.json")
"""Where the catalog is that leads to the server card: as SEP-2127 has it now, and as it had it."""

METADATA_PATH = WELL_KNOWN_PATH + "/oauth-protected-resource"
"""Where protected resource metadata is, before the resource's own path (RFC 9728, 3.1)."""

SERVER_METADATA_PATH = WELL_KNOWN_PATH + "/oauth-authorization-server"
"""Where the authorization server's metadata is, before the issuer's own path (RFC 8414, 3.1)."""

JWKS_PATH = WELL_KNOWN_PATH + "/jwks.json"
"""Where the keys of access tokens are published (RFC 7517)."""

AUTHORIZATION_PATH = "/authorize"
"""The OAuth authorization endpoint, below the portal's base."""

TOKENS_PATH = "/token"
"""The OAuth token endpoint, likewise."""

REGISTRATION_PATH = "/register"
"""The OAuth registration endpoint, likewise (RFC 7591)."""

REVOCATION_PATH = "/revoke"
"""The OAuth revocation endpoint, likewise (RFC 7009)."""

CLIENT_PATHS = frozenset({TOKENS_PATH, REVOCATION_PATH})
"""Where the ``Authorization`` header is an OAuth client's own and no caller's credential."""

OAUTH_POST_PATHS = CLIENT_PATHS | {REGISTRATION_PATH}
"""Where OAuth clients send what they want, without any cookie."""

_OWN_ENDPOINT = re.compile(re.escape(MCP_PATH) + r"/(?!server-card$)([^/]+)", re.DOTALL)
_MCP = re.compile(r"/mcp(/(?!server-card$)[A-Za-z0-9_-]+)?|" + MEMBERS_PATH)


@lru_cache(maxsize=1024)
def is_mcp(path: str) -> bool:
    """Whether a path is an MCP endpoint, with protected resource metadata of its own."""
    return _MCP.fullmatch(path) is not None


@lru_cache(maxsize=1024)
def plugin_of(path: str) -> str | None:
    """The plugin that an MCP endpoint serves alone, by its path; None where it is none's own."""
    own = _OWN_ENDPOINT.fullmatch(path)
    return own[1] if own else None
