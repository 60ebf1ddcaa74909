"""The portal as an OAuth 2.1 authorization server for MCP clients."""
