"""The knowledge plugin: a community's knowledge base, kept in step, searched and served."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.contract import Host, Offer, Plugin, hookimpl
from plugins.knowledge.commands import CHECK
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.offer import offer
from plugins.knowledge.store import Store
from plugins.knowledge.sync.keeper import Keeper
from plugins.knowledge.sync.opening import followed, sources_of, with_hooks
from plugins.knowledge.sync.sync import Sync, rules_of


@hookimpl
def porch_plugin() -> Plugin:
    """Declare the plugin."""
    return Plugin(
        name="knowledge",
        summary="A community's knowledge base: search, lexicon, documents.",
        config=KnowledgeConfig,
        open=open_knowledge,
        commands=(CHECK,),
    )


@asynccontextmanager
async def open_knowledge(config: KnowledgeConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve what the store holds, and bring it up to date with the sources.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
    """
    namespace = config.namespace(host.portal)
    store = Store(host.objects)
    knowledge = await Knowledge.open(host, store, namespace)
    sources = await sources_of(config, host.objects)
    rules = rules_of(config)
    sync = Sync(sources, host.objects, store, knowledge.index, rules, host.data_dir)
    await sync.load()
    keeper = Keeper(host, store, sync, sources, namespace)
    try:
        async with followed(config, host, sync, sources, keeper.sync_once) as followers:
            keeper.followers = followers
            async with keeper.running(), _memory(config, host, knowledge) as memory:
                whole = offer(knowledge, keeper.health, memory)
                yield with_hooks(whole, config, host, sync, followers)
    finally:
        await knowledge.index.close()


@asynccontextmanager
async def _memory(
    config: KnowledgeConfig, host: Host, knowledge: Knowledge
) -> AsyncGenerator[Memory | None]:
    if not config.memory.enabled:
        yield None
        return
    rules = config.memory
    async with Memory.opened(host, knowledge, rules.roles, approval=rules.approval) as memory:
        yield memory
