"""What people leaf through: the skills and agent profiles, and each with its text."""

from __future__ import annotations

from gateway.contract import View
from plugins.skills_repo.client_places import places


def views() -> list[View]:
    """The plugin's views."""
    return [
        View.beside(__file__, "skills", "Skills", "list_skills", listed=True, glance={}),
        View.beside(__file__, "search", "Skills", "search_skills", asks="query"),
        View.beside(
            __file__,
            "skill",
            "Skill",
            "get_skill",
            template="text.html",
            extra={"places": places("skills")},
        ),
        View.beside(__file__, "skill-file", "File of a skill", "get_skill_file"),
        View.beside(__file__, "agents", "Agent profiles", "list_agents", listed=True),
        View.beside(
            __file__,
            "agent",
            "Agent profile",
            "get_agent",
            template="text.html",
            extra={"places": places("agents")},
        ),
    ]
