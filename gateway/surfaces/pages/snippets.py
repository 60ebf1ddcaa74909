"""What to paste into each client, and the links with which some of them install by themselves.

Each is written as the client's own documentation has it in November 2026.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

_MAX_NAME_CHARACTERS = 16
_OTHER = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """How one client is connected.

    Attributes:
        client: the client's name.
        slug: its name as a part of an address.
        where: where the text goes, one sentence; names of files between backticks.
        text: what to paste or type.
        install: a link that installs the server in the client, where it has one.
        after: what to do then, likewise, or empty.
    """

    client: str
    slug: str
    where: str
    text: str
    install: str = ""
    after: str = ""


def server_name(portal: str) -> str:
    """What clients call the portal: short, because tool names are prefixed with it."""
    return _OTHER.sub("-", portal.lower()).strip("-")[:_MAX_NAME_CHARACTERS].strip("-") or "porch"


def snippets(portal: str, base: str, *, local: bool) -> list[Snippet]:
    """The snippets for a portal.

    Args:
        portal: its name.
        base: its address as the reader reaches it.
        local: whether that address works on the reader's machine alone.
    """
    name, url = server_name(portal), f"{base}/mcp"
    return [
        Snippet(
            "Claude Code",
            "claude-code",
            "In a terminal.",
            f"claude mcp add --transport http {name} {url}",
            after="Type `/mcp` in Claude Code to see the connection and to sign in.",
        ),
        Snippet(
            "Codex",
            "codex",
            "In a terminal.",
            f"codex mcp add {name} --url {url}",
            after=f"To sign in: `codex mcp login {name}`.",
        ),
        _claude_desktop(name, url, local=local),
        Snippet(
            "Windsurf",
            "windsurf",
            "In `~/.codeium/windsurf/mcp_config.json`.",
            _json({"mcpServers": {name: {"serverUrl": url}}}),
            after="Press Refresh in the list of MCP servers.",
        ),
        _cursor(name, url),
        _vscode(name, url),
    ]


def _claude_desktop(name: str, url: str, *, local: bool) -> Snippet:
    client, slug = "Claude Desktop", "claude-desktop"
    if not local:
        where = "In Settings, Connectors, “Add custom connector”: this address."
        return Snippet(client, slug, where, url, after="Connect asks you to sign in.")
    bridge = {"command": "npx", "args": ["-y", "mcp-remote", url]}
    return Snippet(
        client,
        slug,
        "In Settings, Developer, Edit Config. It runs a bridge on this machine and needs Node.",
        _json({"mcpServers": {name: bridge}}),
        after="Quit Claude Desktop completely and start it again.",
    )


def _cursor(name: str, url: str) -> Snippet:
    config = base64.b64encode(json.dumps({"url": url}).encode()).decode()
    return Snippet(
        "Cursor",
        "cursor",
        "In `~/.cursor/mcp.json`, or `.cursor/mcp.json` of one project.",
        _json({"mcpServers": {name: {"url": url}}}),
        "cursor://anysphere.cursor-deeplink/mcp/install"
        f"?name={quote(name, safe='')}&config={quote(config, safe='')}",
        "Settings, MCP shows the server, and the sign-in where it asks for one.",
    )


def _vscode(name: str, url: str) -> Snippet:
    config = json.dumps({"name": name, "type": "http", "url": url}, separators=(",", ":"))
    return Snippet(
        "VS Code",
        "vs-code",
        "In `.vscode/mcp.json`, or by the command “MCP: Open User Configuration”.",
        _json({"servers": {name: {"type": "http", "url": url}}}),
        f"vscode:mcp/install?{quote(config, safe='')}",
        "The tools appear in the chat's agent mode.",
    )


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2)
