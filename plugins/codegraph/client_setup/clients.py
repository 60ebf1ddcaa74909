"""The clients that a project can be made ready for, and the files that each of them reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A text file with the rule in it.

    Attributes:
        path: from the project's root.
        head: what the file begins with where it is made: the front matter that makes the client
            always read it, or "".
    """

    path: str
    head: str = ""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A JSON file with an entry for each MCP server.

    Attributes:
        path: from the project's root, or from the home directory where it begins with ``~``: such
            a file is not the project's, so what belongs into it is shown instead.
        key: the key of the servers.
        url: the key of a server's address.
        more: what else the entry has.
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
"""The clients, as their documentation describes their files in November 2026."""
