"""The supported clients, and the files that each of them reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A text file that contains the rule.

    Attributes:
        path: relative to the project's root.
        head: the beginning of a newly created file: the front matter that makes the client always
            read it, or "".
    """

    path: str
    head: str = ""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A JSON file with an entry per MCP server.

    Attributes:
        path: relative to the project's root, or to the home directory if it begins with ``~``. Such
            a file is not the project's, so its content is shown instead of written.
        key: the key of the servers.
        url: the key of a server's address.
        more: other members of the entry.
    """

    path: str
    key: str
    url: str = "url"
    more: Mapping[str, Any] | None = None

    def entry(self, address: str) -> dict[str, Any]:
        """The portal's entry.

        Args:
            address: the portal's MCP endpoint.
        """
        return {**(self.more or {}), self.url: address}


@dataclass(frozen=True, slots=True)
class Client:
    """One client: its name, and its files."""

    name: str
    rule: RuleFile
    settings: SettingsFile


def _front_matter(*lines: str) -> str:
    return "\n".join(("---", *lines, "---", "", ""))


_ABOUT = "description: How agents use the portal's code graph"
_HTTP = {"type": "http"}

CLIENTS = (
    Client(
        "Claude Code",
        RuleFile("CLAUDE.md"),
        SettingsFile(".mcp.json", "mcpServers", more=_HTTP),
    ),
    Client(
        "Cursor",
        RuleFile(".cursor/rules/porch.mdc", _front_matter(_ABOUT, "globs:", "alwaysApply: true")),
        SettingsFile(".cursor/mcp.json", "mcpServers"),
    ),
    Client(
        "VS Code",
        RuleFile(".github/instructions/porch.instructions.md", _front_matter('applyTo: "**"')),
        SettingsFile(".vscode/mcp.json", "servers", more=_HTTP),
    ),
    Client(
        "Windsurf",
        RuleFile(".windsurf/rules/porch.md", _front_matter("trigger: always_on", _ABOUT)),
        SettingsFile("~/.codeium/windsurf/mcp_config.json", "mcpServers", url="serverUrl"),
    ),
)
"""The clients, with their files as documented in November 2026."""
