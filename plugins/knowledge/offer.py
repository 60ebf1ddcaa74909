"""What the plugin offers over a knowledge base, gathered for ``plugin.py``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gateway.contract import Health, Offer
from plugins.knowledge.api import routes
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.prompts import prompts
from plugins.knowledge.resources import resources, templates
from plugins.knowledge.tools import tools


def offer(knowledge: Knowledge, health: Callable[[], Awaitable[Health]]) -> Offer:
    """Everything that the plugin offers while it is open.

    Args:
        knowledge: the knowledge base.
        health: says how the plugin is.
    """
    return Offer(
        tools=tools(knowledge),
        resources=resources(knowledge),
        templates=templates(knowledge),
        prompts=prompts(knowledge),
        routes=routes(knowledge),
        health=health,
        instructions=(
            f"The knowledge base of {knowledge.portal}: search it with search_knowledge before "
            "you answer a question about the community, its practices or its terms, and look up "
            "terms with define_term."
        ),
    )
