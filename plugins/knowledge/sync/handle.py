"""The opened knowledge base with everything that syncs it, for the plugin and its commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gateway.contract import Host, rebuildable
from gateway.repositories import Retry
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.store import Store
from plugins.knowledge.sync.build import open_followers, open_sources
from plugins.knowledge.sync.follower import Follower
from plugins.knowledge.sync.repair import Repair
from plugins.knowledge.sync.sources import NoteSource
from plugins.knowledge.sync.sync import Sync, rules_of
from plugins.knowledge.sync.sync_loop import SyncLoop
from plugins.knowledge.sync.verification import Verifier


@dataclass(frozen=True, slots=True)
class KnowledgeHandle:
    """The parts.

    Attributes:
        knowledge: what reads the knowledge base.
        sync: what brings it up to date.
        sync_loop: runs the sync, and tells how it goes.
        followers: the sources on GitHub.
        repair: compares source, store and index.
        sources: where the notes come from, as the settings list them.
    """

    knowledge: Knowledge
    sync: Sync
    sync_loop: SyncLoop
    followers: Sequence[Follower]
    repair: Repair
    sources: Sequence[NoteSource] = ()


@asynccontextmanager
async def open_handle(
    config: KnowledgeConfig, host: Host, retry: Retry | None = None
) -> AsyncGenerator[KnowledgeHandle]:
    """Open everything and show what an earlier process left; nothing is synced yet.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
        retry: how often GitHub is asked again; None leaves it to the host.

    Raises:
        ValueError: the operator's credential at GitHub is not where the setting says.
    """
    config = await asyncio.to_thread(config.laid_out)
    store, namespace = Store.of(host), config.namespace(host.portal)
    knowledge = await Knowledge.open(host, store, namespace, config.sources, config.review_days)
    index, rules = knowledge.index, rules_of(config, host.scrub)
    try:
        sources = await open_sources(config, host)
        sync = Sync(sources, host.objects, store, index, rules, rebuildable(host.data_dir))
        await sync.load()
        knowledge.set_unfinished(sync.unfinished)
        sync_loop = SyncLoop(host, store, sync, sources, namespace)
        verifier = Verifier(sources, host.objects, index, rules, sync.own)
        async with open_followers(
            config, host, sync, sources, sync_loop.take_in, retry
        ) as followers:
            sync_loop.set_followers(followers)
            remote = {one.source.key: one.file_history for one in followers}
            knowledge.set_sources(sources, remote)
            repair = Repair(verifier, sync, store, host.objects, followers, sync_loop.sync_all)
            yield KnowledgeHandle(knowledge, sync, sync_loop, followers, repair, sources)
    finally:
        await index.close()
