"""The knowledge plugin: a community's knowledge base, kept in step, searched and served."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

from gateway.contract import Host, Offer, Plugin, hookimpl
from plugins.knowledge.check import check
from plugins.knowledge.commands import COMMANDS
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.offer import offer
from plugins.knowledge.sync.differences import Verified
from plugins.knowledge.sync.errands import Errand
from plugins.knowledge.sync.opening import with_hooks
from plugins.knowledge.sync.standing import standing
from plugins.knowledge.sync.state import Full, routes


@hookimpl
def porch_plugin() -> Plugin:
    """Declare the plugin."""
    return Plugin(
        name="knowledge",
        summary="A community's knowledge base: search, lexicon, documents.",
        config=KnowledgeConfig,
        open=open_knowledge,
        commands=COMMANDS,
        check=check,
    )


@asynccontextmanager
async def open_knowledge(config: KnowledgeConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve what the store holds, and bring it up to date with the sources.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
    """
    async with standing(config, host) as found, _errands() as (full, verification):
        knowledge = found.knowledge
        async with found.keeper.running(), _memory(config, host, knowledge) as memory:
            whole = offer(knowledge, found.keeper.health, memory)
            levers = routes(found, full, verification)
            whole = replace(whole, routes=[*whole.routes, *levers])
            yield with_hooks(whole, config, host, found.followers)


@asynccontextmanager
async def _errands() -> AsyncGenerator[tuple[Full, Errand[Verified]]]:
    full, verification = Full(), Errand[Verified]()
    try:
        yield full, verification
    finally:
        await full.close()
        await verification.close()


@asynccontextmanager
async def _memory(
    config: KnowledgeConfig, host: Host, knowledge: Knowledge
) -> AsyncGenerator[Memory | None]:
    if not config.memory.enabled:
        yield None
        return
    rules = config.memory
    async with Memory.opened(
        host, knowledge, rules.roles, approval=rules.approval, upkeep=rules.upkeep
    ) as memory:
        yield memory
