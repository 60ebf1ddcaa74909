"""What people leaf through: the skills and agent profiles, and each with its text."""

from __future__ import annotations

from pathlib import Path

from gateway.contract import View

_HERE = Path(__file__).parent


def views() -> list[View]:
    """The plugin's views."""
    return [
        _view("skills", "Skills", "list_skills", listed=True),
        _view("search", "Search the skills", "search_skills"),
        _view("skill", "Skill", "get_skill"),
        _view("skill-file", "File of a skill", "get_skill_file"),
        _view("agents", "Agent profiles", "list_agents", listed=True),
        _view("agent", "Agent profile", "get_agent"),
    ]


def _view(name: str, title: str, tool: str, *, listed: bool = False) -> View:
    return View(name, title, tool, _HERE / f"{name}.html", listed=listed)
