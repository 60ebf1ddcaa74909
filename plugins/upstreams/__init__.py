"""Other MCP servers behind the one URL: their tools, prompts and resources, declared as our own."""
