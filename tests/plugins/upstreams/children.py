"""A server that is a program: it speaks MCP on its standard input and output."""

from __future__ import annotations

import os
import sys

from mcp.server import MCPServer

server = MCPServer("child")


@server.tool()
def greet(name: str) -> str:
    """Greets somebody."""
    sys.stderr.write("somebody is greeted\n")
    return f"Hello {name} from {os.environ['PLACE']}"


@server.tool()
def die() -> str:
    """Ends the program in the middle of a call."""
    os._exit(3)


if __name__ == "__main__":
    server.run()
