"""What people leaf through: the playbook's workflows, and one with its stages and steps."""

from __future__ import annotations

from pathlib import Path

from gateway.contract import View

_HERE = Path(__file__).parent


def views() -> list[View]:
    """The plugin's views."""
    return [
        _view("workflows", "Workflows", "get_available_workflows", listed=True),
        _view("workflow", "Workflow", "get_workflow"),
        _view("skill-card", "Skill card", "get_selected_skill"),
    ]


def _view(name: str, title: str, tool: str, *, listed: bool = False) -> View:
    return View(name, title, tool, _HERE / f"{name}.html", listed=listed)
