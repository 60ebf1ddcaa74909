"""The skills_repo plugin: skills, agent profiles and docs from Git repositories."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.contract import Host, Offer, Plugin, hookimpl
from plugins.skills_repo.check import check
from plugins.skills_repo.commands import CHECK, INDEX
from plugins.skills_repo.config import SkillsRepoConfig
from plugins.skills_repo.heads import Heads
from plugins.skills_repo.index.library import Library
from plugins.skills_repo.index.store import IndexStore
from plugins.skills_repo.keeper import Keeper
from plugins.skills_repo.offer import offering, whole
from plugins.skills_repo.reading import Reader
from plugins.skills_repo.search import Search
from plugins.skills_repo.shelf import Shelf
from plugins.skills_repo.sources import opened
from plugins.skills_repo.visible import Visible


@hookimpl
def porch_plugin() -> Plugin:
    """Declare the plugin."""
    return Plugin(
        name="skills_repo",
        summary="Skills, agent profiles and docs from Git repositories.",
        config=SkillsRepoConfig,
        open=open_skills_repo,
        commands=(INDEX, CHECK),
        command="skills",
        check=check,
    )


@asynccontextmanager
async def open_skills_repo(config: SkillsRepoConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve what the indexes hold, and keep them up to date.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
    """
    async with opened(config, host.secret, scrub=host.scrub) as repositories:
        reader = Reader(config, repositories)
        heads = Heads(repositories)
        visible = Visible(host.rows)
        shelf = Shelf(Library(config.sources, {}), reader, host.exchange, heads, visible)
        search = Search(host, IndexStore(host.objects), visible)
        offer = offering(shelf, search)
        keeper = Keeper(host, config.sources, repositories, shelf, search, offer)
        try:
            async with keeper.running():
                yield whole(offer(), config, host, keeper, shelf)
        finally:
            await heads.close()
            await reader.close()
