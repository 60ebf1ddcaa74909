"""What people leaf through: the playbook's workflows, and one with its stages and steps."""

from __future__ import annotations

from gateway.contract import View


def views() -> list[View]:
    """The plugin's views."""
    return [
        View.beside(__file__, "workflows", "Workflows", "get_available_workflows", listed=True),
        View.beside(__file__, "workflow", "Workflow", "get_workflow"),
        View.beside(__file__, "skill-card", "Skill card", "get_selected_skill"),
    ]
