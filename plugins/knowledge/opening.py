"""Opens the knowledge base and all that it offers, for ``plugin.py``."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

from gateway.contract import Host, Offer
from gateway.repositories import Deliveries
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.drafts.opening import with_drafts
from plugins.knowledge.jobs import SyncJobs
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.offer import offer
from plugins.knowledge.sync.admin_routes import FullSync, routes
from plugins.knowledge.sync.admin_tasks import AdminTask
from plugins.knowledge.sync.differences import Verified
from plugins.knowledge.sync.handle import KnowledgeHandle, open_handle
from plugins.knowledge.sync.sync_tool import sync_tools
from plugins.knowledge.webhooks import push_webhook


@asynccontextmanager
async def opened(config: KnowledgeConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve what the store holds, and bring it up to date with the sources.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
    """
    async with open_handle(config, host) as found, _errands() as (full, verification):
        knowledge = found.knowledge
        async with found.sync_loop.running(), _memory(config, host, knowledge) as memory:
            whole = offer(knowledge, found.sync_loop.health, memory)
            levers = routes(found, full, verification)
            whole = replace(whole, routes=[*whole.routes, *levers])
            whole = _with_sync(whole, config, host, found)
            async with with_drafts(whole, config, host, knowledge, found.sources) as drafting:
                yield drafting


@asynccontextmanager
async def _errands() -> AsyncGenerator[tuple[FullSync, AdminTask[Verified]]]:
    full, verification = FullSync(), AdminTask[Verified]()
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
        host,
        knowledge,
        rules.roles,
        approval=rules.approval,
        upkeep=rules.upkeep,
        extraction=rules.extraction,
    ) as memory:
        yield memory


def _with_sync(offer: Offer, config: KnowledgeConfig, host: Host, handle: KnowledgeHandle) -> Offer:
    """The offer with the jobs, the tool and the webhook of the sync.

    Raises:
        ValueError: the webhook's secret is not where the setting says.
    """
    followers, webhooks = handle.followers, [*offer.webhooks]
    if config.github.webhook_secret is not None:
        deliveries = Deliveries(host.secret(config.github.webhook_secret), host.cache)
        webhooks.append(push_webhook(followers, host.jobs, deliveries))
    jobs = SyncJobs(followers, host.jobs, handle.sync_loop).declarations(config.schedule)
    # Directories are followed as they change; there is nothing to ask for.
    tools = [*offer.tools, *(sync_tools(host.jobs) if followers else ())]
    return replace(offer, tools=tools, jobs=(*offer.jobs, *jobs), webhooks=webhooks)
