"""Views of what plugins' tools return: pages of the portal, and MCP Apps."""
