"""The MCP tools, one file per group."""
