"""Names of MCP 2026-07-28 that a client writes, apart from ``mcp_types``.

They are the same as there (a test compares them). Importing ``mcp_types`` builds hundreds of
models, which a command that asks a running portal has no use for.
"""

from __future__ import annotations

LATEST_MODERN_VERSION = "2026-07-28"
PROTOCOL_VERSION_META_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_INFO_META_KEY = "io.modelcontextprotocol/clientInfo"
CLIENT_CAPABILITIES_META_KEY = "io.modelcontextprotocol/clientCapabilities"
HEADER_MISMATCH = -32020
"""The JSON-RPC error code for headers that do not say what the body says (SEP-2243)."""
