"""A knowledge base with all that keeps it in step, as the plugin and its commands open it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gateway.contract import Host
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.store import Store
from plugins.knowledge.sync.follow import Follower
from plugins.knowledge.sync.keeper import Keeper
from plugins.knowledge.sync.mending import Mender
from plugins.knowledge.sync.opening import followed, sources_of
from plugins.knowledge.sync.patience import Patience
from plugins.knowledge.sync.sync import Sync, rules_of
from plugins.knowledge.sync.verify import Verifier


@dataclass(frozen=True, slots=True)
class Standing:
    """The parts.

    Attributes:
        knowledge: what reads the knowledge base.
        sync: what brings it up to date.
        keeper: runs the sync, and tells how it goes.
        followers: the sources on GitHub.
        mender: compares source, store and index.
    """

    knowledge: Knowledge
    sync: Sync
    keeper: Keeper
    followers: Sequence[Follower]
    mender: Mender


@asynccontextmanager
async def standing(
    config: KnowledgeConfig, host: Host, patience: Patience | None = None
) -> AsyncGenerator[Standing]:
    """Open everything and show what an earlier process left; nothing is synced yet.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
        patience: how often GitHub is asked again; None leaves it to the host.

    Raises:
        ValueError: the operator's credential at GitHub is not where the setting says.
    """
    store, namespace = Store.of(host), config.namespace(host.portal)
    knowledge = await Knowledge.open(host, store, namespace)
    index, rules = knowledge.index, rules_of(config, host.scrub)
    try:
        sources = await sources_of(config, host)
        sync = Sync(sources, host.objects, store, index, rules, host.data_dir)
        await sync.load()
        knowledge.says(sync.status.unfinished)
        keeper = Keeper(host, store, sync, sources, namespace)
        verifier = Verifier(sources, host.objects, index, rules, sync.own)
        async with followed(config, host, sync, sources, keeper.sync_once, patience) as followers:
            keeper.looks_after(followers)
            mender = Mender(verifier, sync, store, host.objects, followers, keeper.everything)
            yield Standing(knowledge, sync, keeper, followers, mender)
    finally:
        await index.close()
