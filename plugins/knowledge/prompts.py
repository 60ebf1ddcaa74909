"""The three prompts (knowledge server specification, section 7.6), in the portal's own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from gateway.contract import Caller, Prompt, Tier
from plugins.knowledge.completion import Completions
from plugins.knowledge.knowledge import Knowledge

_DEPTHS = ("shallow", "deep")
_STEPS = {
    "shallow": """Keep it to a short summary:
1. What the term means, from the lexicon.
2. The one document that says most about it, and what it says.
3. One or two places to read on.""",
    "deep": """Be thorough:
1. The core ideas, with the lexicon's definitions.
2. The patterns, practices and playbooks that bear on it, and how they relate.
3. The people, groups and projects that work with it.
4. External resources that the knowledge base links to.
5. What is missing, contradictory or out of date.""",
}


def prompts(knowledge: Knowledge) -> list[Prompt]:
    """The prompts over a knowledge base."""
    portal = knowledge.portal
    offer = Completions(knowledge)

    async def research_topic(topic: str, depth: Literal["shallow", "deep"] = "shallow") -> str:
        """Research a topic across the knowledge base.

        Args:
            topic: The topic to research.
            depth: How far to go, shallow or deep.
        """
        return (
            f'Research the topic "{topic}" in the knowledge base of {portal}.\n\n'
            f"{_STEPS[depth]}\n\n"
            "Use `search_knowledge` with several wordings of the topic, and `define_term` for "
            "every term of art. Name the document behind each statement by its title, and say "
            "plainly where the knowledge base has no answer."
        )

    async def explain_pattern(pattern: str) -> str:
        """Explain a pattern, with examples from the community's own experience.

        Args:
            pattern: The name of the pattern to explain.
        """
        return (
            f'Explain the pattern "{pattern}" as the knowledge base of {portal} documents it.\n\n'
            "1. What it is, from the lexicon and the pattern's own page.\n"
            "2. The problem that it solves, and how it works in practice.\n"
            "3. Examples from the community's experience.\n"
            "4. Patterns that go with it.\n"
            "5. When to use it, and when something else.\n\n"
            "Find the sources with `search_knowledge` (first with the filter contentType: pattern) "
            "and `define_term`, and name them by their titles."
        )

    async def compare_practices(practice1: str, practice2: str) -> str:
        """Compare two practices of governance or coordination.

        Args:
            practice1: The first practice.
            practice2: The second practice.
        """
        return (
            f'Compare "{practice1}" and "{practice2}" as the knowledge base of {portal} documents '
            "them.\n\n"
            "1. What each is, in a sentence or two.\n"
            "2. What they have in common.\n"
            "3. Where they differ.\n"
            "4. When to use which.\n"
            "5. How they could work together.\n\n"
            "Look both up with `search_knowledge`, and name the documents you rely on by their "
            "titles."
        )

    return [
        Prompt.of(
            research_topic,
            title="Research a topic",
            tier=Tier.OPEN,
            complete={"topic": offer.topics, "depth": _depths},
        ),
        Prompt.of(
            explain_pattern,
            title="Explain a pattern",
            tier=Tier.OPEN,
            complete={"pattern": offer.patterns},
        ),
        Prompt.of(
            compare_practices,
            title="Compare two practices",
            tier=Tier.OPEN,
            complete={"practice1": offer.practices, "practice2": offer.practices},
        ),
    ]


async def _depths(typed: str, _: Mapping[str, str], __: Caller) -> list[str]:
    return [depth for depth in _DEPTHS if depth.startswith(typed.strip().lower())]
