"""What the plugin offers over a knowledge base, gathered for ``plugin.py``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gateway.contract import Health, Job, Offer, Work
from plugins.knowledge.api import routes
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.memory.api.api import api
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.tools.backlog import backlog
from plugins.knowledge.memory.tools.entries import tools as memory_tools
from plugins.knowledge.memory.tools.pending import pending_requests
from plugins.knowledge.memory.views import views as memory_views
from plugins.knowledge.prompts import prompts
from plugins.knowledge.resources import resources, templates
from plugins.knowledge.tools import tools
from plugins.knowledge.views import views

_MEMORY = (
    "What people and their agents told the portal is asked with query_memory, before you answer "
    "what may have been said or decided before, and kept with remember, where they want it kept: a "
    "decision, a preference, a fact that will be needed again, one at a time, in words that stand "
    "for themselves. Where remember names an entry that the new one seems to replace, settle it "
    "with settle_memory if you know, and ask your person if you do not. Say so where an answer is "
    "marked as superseded, contested or long unverified."
)


def offer(
    knowledge: Knowledge, health: Callable[[], Awaitable[Health]], memory: Memory | None = None
) -> Offer:
    """Everything that the plugin offers while it is open.

    Args:
        knowledge: the knowledge base.
        health: says how the plugin is.
        memory: what agents remember, or None where they do not.
    """
    return Offer(
        tools=[*tools(knowledge), *([] if memory is None else memory_tools(memory))],
        resources=resources(knowledge),
        templates=templates(knowledge),
        prompts=prompts(knowledge),
        routes=routes(knowledge),
        apis=() if memory is None else (api(memory),),
        jobs=() if memory is None else _memory_jobs(memory),
        work=() if memory is None else _memory_work(memory),
        health=health,
        views=[*views(), *([] if memory is None else memory_views())],
        rows=(knowledge.store.row_kind(),),
        pending=None if memory is None else pending_requests(memory),
        backlog=None if memory is None else backlog(memory),
        personal=None if memory is None else memory.personal_data.declaration(),
        instructions=(
            f"The knowledge base of {knowledge.portal}: search it with search_knowledge before "
            "you answer a question about the community, its practices or its terms, and look up "
            "terms with define_term."
        ),
        said={} if memory is None else {"query_memory": _MEMORY},
    )


def _memory_jobs(memory: Memory) -> tuple[Job, ...]:
    jobs = (memory.batches.declaration(), memory.upkeep.declaration())
    late = memory.late_reading
    return jobs if late is None else (*jobs, late.job())


def _memory_work(memory: Memory) -> tuple[Work, ...]:
    late = memory.late_reading
    agents = memory.conversations.reader.rules.agents
    return (late.work(),) if late is not None and agents else ()
