"""The names of MCP are those of ``mcp_types``."""

from __future__ import annotations

import mcp_types

from gateway.toolkit import mcp_names


def test_the_names_are_those_of_mcp_types() -> None:
    assert mcp_names.LATEST_MODERN_VERSION == mcp_types.version.LATEST_MODERN_VERSION
    for name in ("PROTOCOL_VERSION", "CLIENT_INFO", "CLIENT_CAPABILITIES"):
        assert getattr(mcp_names, f"{name}_META_KEY") == getattr(mcp_types, f"{name}_META_KEY")
    assert mcp_names.HEADER_MISMATCH == mcp_types.HEADER_MISMATCH
