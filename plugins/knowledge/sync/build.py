"""Opens the configured sources, and what follows those on GitHub."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from gateway.contract import Host
from gateway.repositories import Advice, Retry, open_github
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.sync.follower import Follower, ServeNotes
from plugins.knowledge.sync.github import GithubSource
from plugins.knowledge.sync.sources import DirectorySource, NoteSource
from plugins.knowledge.sync.sync import Sync

DEFAULT_RETRY = Retry()
"""How often GitHub is asked again."""

_ADVICE = Advice(largest="max_note")


async def open_sources(config: KnowledgeConfig, host: Host) -> list[NoteSource]:
    """The configured sources, in their order; those on GitHub as they were last fetched.

    Args:
        config: the plugin's section.
        host: the plugin's services.
    """
    made: list[NoteSource] = []
    for each in config.sources:
        if each.github is None:
            made.append(DirectorySource(each, config.types, config.max_note, host.scrub))
            continue
        source = GithubSource(each, config.types, config.max_note, host.objects, host.scrub)
        await source.refresh()
        made.append(source)
    return made


@asynccontextmanager
async def open_followers(
    config: KnowledgeConfig,
    host: Host,
    sync: Sync,
    sources: Sequence[NoteSource],
    serve: ServeNotes,
    retry: Retry | None = None,
) -> AsyncGenerator[list[Follower]]:
    """What follows the sources on GitHub, for as long as the block lasts.

    Args:
        config: the plugin's section.
        host: the plugin's services.
        sync: takes in what was fetched.
        sources: all sources.
        serve: runs the sync, and tells of it.
        retry: how often GitHub is asked again; None leaves it to the host.

    Raises:
        ValueError: the operator's credential is not where the setting says.
    """
    remote = [source for source in sources if isinstance(source, GithubSource)]
    if not remote:
        yield []
        return
    if retry is None:
        retry = (
            replace(DEFAULT_RETRY, retries=0) if host.wait_ready else DEFAULT_RETRY
        )  # somebody waits
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
                retry,
            )
            for source in remote
        ]
