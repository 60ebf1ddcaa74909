"""Opens the knowledge base and all that it offers, for ``plugin.py``."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from gateway.contract import Host, Offer
from gateway.repositories import Deliveries
from gateway.toolkit.background import background, every
from gateway.toolkit.reasons import log_fields
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.drafts.opening import with_drafts
from plugins.knowledge.jobs import SyncJobs
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.offer import offer
from plugins.knowledge.retrieval.index import Index
from plugins.knowledge.retrieval.replaced import LOOK_INTERVAL_S
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
        looked_after = background(*_upkeep_of(knowledge.index, host))
        async with (
            looked_after,
            found.sync_loop.running(),
            _memory(config, host, knowledge) as memory,
        ):
            whole = offer(knowledge, found.sync_loop.health, memory)
            levers = routes(found, full, verification)
            whole = replace(whole, routes=[*whole.routes, *levers])
            whole = _with_sync(whole, config, host, found)
            async with with_drafts(whole, config, host, knowledge, found.sources) as drafting:
                yield drafting


def _upkeep_of(index: Index, host: Host) -> list[Coroutine[Any, Any, None]]:
    """What goes on behind the index: nothing where somebody waits, or nothing has to stay."""
    if host.wait_ready or host.vectors.own:
        return []

    def failed(error: Exception) -> None:
        host.log.error("replaced collections are not looked after", **log_fields(error))

    return [every(LOOK_INTERVAL_S, index.look_after_replaced, failed, first_s=0.0)]


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
