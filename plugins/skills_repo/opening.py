"""Opens the repositories and their index, for ``plugin.py``."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.contract import Host, Offer
from plugins.skills_repo.catalogue import Catalogue
from plugins.skills_repo.config import SkillsRepoConfig
from plugins.skills_repo.file_reader import FileReader
from plugins.skills_repo.index.library import Library
from plugins.skills_repo.index.store import IndexStore
from plugins.skills_repo.index_loop import IndexLoop
from plugins.skills_repo.offer import full_offer, offer_factory
from plugins.skills_repo.remote_heads import RemoteHeads
from plugins.skills_repo.repositories import open_repositories
from plugins.skills_repo.search import Search
from plugins.skills_repo.uses import MIGRATIONS, UseLog
from plugins.skills_repo.visibility import Visibility


@asynccontextmanager
async def opened(config: SkillsRepoConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve what the indexes hold, and keep them up to date."""
    await host.database.migrate(MIGRATIONS)
    uses = UseLog(host.database)
    async with open_repositories(config, host.secret, scrub=host.scrub) as repositories:
        reader = FileReader(config, repositories)
        heads = RemoteHeads(repositories)
        visible = Visibility(host.rows)
        catalogue = Catalogue(
            Library(config.sources, {}), reader, host.exchange, heads, visible, uses
        )
        search = Search(host, IndexStore(host.objects), visible)
        offer = offer_factory(catalogue, search)
        index_loop = IndexLoop(host, config.sources, repositories, catalogue, search, offer)
        try:
            async with index_loop.running(), uses.running():
                yield full_offer(offer(), config, host, index_loop, catalogue)
        finally:
            await heads.close()
            await reader.close()
