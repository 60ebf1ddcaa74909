"""Opens the configured sources, and adds what follows those on GitHub to the plugin's offer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from gateway.contract import Host, Offer
from gateway.repositories import Advice, Deliveries, open_github
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.sync.follow import Follower, Serve
from plugins.knowledge.sync.github import GithubSource
from plugins.knowledge.sync.hooks import Hooks
from plugins.knowledge.sync.patience import Patience
from plugins.knowledge.sync.sources import Notes, Source
from plugins.knowledge.sync.sync import Sync

PATIENCE = Patience()
"""How often GitHub is asked again."""

_ADVICE = Advice(largest="max_note")


async def sources_of(config: KnowledgeConfig, host: Host) -> list[Notes]:
    """The configured sources, in their order; those on GitHub as they were last fetched.

    Args:
        config: the plugin's section.
        host: the plugin's services.
    """
    made: list[Notes] = []
    for each in config.sources:
        if each.github is None:
            made.append(Source(each, config.types, config.max_note, host.scrub))
            continue
        source = GithubSource(each, config.types, config.max_note, host.objects, host.scrub)
        await source.refresh()
        made.append(source)
    return made


@asynccontextmanager
async def followed(
    config: KnowledgeConfig,
    host: Host,
    sync: Sync,
    sources: Sequence[Notes],
    serve: Serve,
    patience: Patience | None = None,
) -> AsyncGenerator[list[Follower]]:
    """What follows the sources on GitHub, for as long as the block lasts.

    Args:
        config: the plugin's section.
        host: the plugin's services.
        sync: takes in what was fetched.
        sources: all sources.
        serve: runs the sync, and tells of it.
        patience: how often GitHub is asked again; None leaves it to the host.

    Raises:
        ValueError: the operator's credential is not where the setting says.
    """
    remote = [source for source in sources if isinstance(source, GithubSource)]
    if not remote:
        yield []
        return
    if patience is None:
        patience = replace(PATIENCE, retries=0) if host.wait_ready else PATIENCE  # somebody waits
    async with open_github(config.github, host.secret) as github:
        yield [
            Follower(
                source,
                github.repository(
                    source.repository, source.branch, int(source.max_note), advice=_ADVICE
                ),
                sync,
                serve,
                host.log,
                patience,
            )
            for source in remote
        ]


def with_hooks(
    offer: Offer, config: KnowledgeConfig, host: Host, followers: Sequence[Follower]
) -> Offer:
    """The offer with the jobs and the webhook of the sync.

    Raises:
        ValueError: the webhook's secret is not where the setting says.
    """
    hooks = Hooks(followers, host.jobs)
    webhooks = [*offer.webhooks]
    if config.github.webhook_secret is not None:
        deliveries = Deliveries(host.secret(config.github.webhook_secret), host.cache)
        webhooks.append(hooks.webhook(deliveries))
    return replace(
        offer,
        jobs=(*offer.jobs, *hooks.jobs(config.schedule)),
        webhooks=webhooks,
    )
