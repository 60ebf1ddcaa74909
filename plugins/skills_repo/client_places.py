"""Where clients read skills and agent profiles: one table, for the pages and for the command.

A client is here for what it reads as it is; Codex for skills alone, since it keeps agents as TOML.

Sources: code.claude.com/docs/en/skills and /sub-agents; cursor.com/docs/context/skills and
/docs/agent/subagents; code.visualstudio.com/docs/agent-customization/agent-skills and
/custom-agents; developers.openai.com/codex/skills; geminicli.com/docs/cli/using-agent-skills.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

ClientKind = Literal["skills", "agents"]


class Client(StrEnum):
    """A client, by its word after ``--client``."""

    CLAUDE = "claude"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CODEX = "codex"
    GEMINI = "gemini"

    @property
    def label(self) -> str:
        """What people call it."""
        return _LABELS[self]


_LABELS = {
    Client.CLAUDE: "Claude Code",
    Client.CURSOR: "Cursor",
    Client.VSCODE: "VS Code",
    Client.CODEX: "Codex",
    Client.GEMINI: "Gemini CLI",
}


@dataclass(frozen=True, slots=True)
class ClientPlace:
    """Where a client reads what is of one kind.

    Attributes:
        client: the client.
        kind: what it reads there.
        project: the folder in a project.
        user: the folder in a person's home, for all of their projects.
        file: the file that it reads there, with ``{name}`` for the name.
    """

    client: Client
    kind: ClientKind
    project: str
    user: str
    file: str

    def shown(self, name: str, *, user: bool = False) -> str:
        """The path of the file for a name, as people write it."""
        folder = f"~/{self.user}" if user else self.project
        return f"{folder}/{self.file.replace('{name}', name)}"


def _skills(client: Client, project: str, user: str = "") -> ClientPlace:
    return ClientPlace(client, "skills", project, user or project, "{name}/SKILL.md")


def _agents(client: Client, project: str, user: str = "", file: str = "{name}.md") -> ClientPlace:
    return ClientPlace(client, "agents", project, user or project, file)


PLACES: Sequence[ClientPlace] = (
    _skills(Client.CLAUDE, ".claude/skills"),
    _skills(Client.CURSOR, ".cursor/skills"),
    _skills(Client.VSCODE, ".github/skills", ".copilot/skills"),
    _skills(Client.CODEX, ".agents/skills"),
    _skills(Client.GEMINI, ".gemini/skills"),
    _agents(Client.CLAUDE, ".claude/agents"),
    _agents(Client.CURSOR, ".cursor/agents"),
    _agents(Client.VSCODE, ".github/agents", ".copilot/agents", "{name}.agent.md"),
)


def places(kind: ClientKind) -> Sequence[ClientPlace]:
    """The places of a kind, one for each client that reads it."""
    return [each for each in PLACES if each.kind == kind]


def place(client: Client, kind: ClientKind) -> ClientPlace | None:
    """Where a client reads what is of a kind; None where it does not."""
    return next((each for each in places(kind) if each.client == client), None)
