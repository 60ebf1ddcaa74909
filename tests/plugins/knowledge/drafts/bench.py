"""Drafts over a real database and a directory, without a portal around them; several replicas."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gateway.contract import Caller, ContentScrub, Host, Tier
from gateway.plugin_host import make_host
from gateway.services import open_services
from plugins.knowledge.config import SourceConfig
from plugins.knowledge.drafts.directory_place import DirectoryPlace
from plugins.knowledge.drafts.draft import DraftArgs
from plugins.knowledge.drafts.drafts import Drafts
from plugins.knowledge.drafts.store import DraftStore
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.store import Store
from plugins.knowledge.sync.sources import DirectorySource
from tests.plugins.knowledge.memory.conftest import Clock, Town
from tests.plugins.knowledge.retrieval.conftest import SETTINGS

ANA = Caller("person:ana", Tier.MEMBERS, name="Ana")
BO = Caller("person:bo", Tier.MEMBERS, name="Bo")


@dataclass
class Bench:
    """Two replicas over one database and one directory."""

    replicas: tuple[Drafts, Drafts]
    host: Host
    notes: Path
    clock: Clock

    @property
    def drafts(self) -> Drafts:
        return self.replicas[0]

    @property
    def store(self) -> DraftStore:
        return self.replicas[0].store

    def files(self) -> dict[str, str]:
        """The drafts' files, by their paths below the folder."""
        folder = self.notes / "drafts"
        found = [each for each in folder.rglob("*") if each.is_file()]
        return {str(each.relative_to(folder)): each.read_text() for each in found}


@asynccontextmanager
async def opened(address: str, root: Path, clock: Clock | None = None) -> AsyncGenerator[Bench]:
    """A bench whose database is at an address, migrated."""
    notes, clock = root / "notes", clock or Clock()
    notes.mkdir(exist_ok=True)
    settings = SimpleNamespace(**{**vars(SETTINGS), "database": address})
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(open_services(settings, root))
        shares = replace(services.for_plugin("knowledge"), embedder=None, reranker=None)
        host = replace(make_host(shares, "knowledge", "Test portal"), people=Town())
        knowledge = await Knowledge.open(host, Store.of(host), "test")
        stack.push_async_callback(knowledge.index.close)
        yield Bench(
            (drafts(host, knowledge, notes, clock), drafts(host, knowledge, notes, clock)),
            host,
            notes,
            clock,
        )


def drafts(host: Host, knowledge: Knowledge, notes: Path, clock: Clock) -> Drafts:
    """A replica's drafts."""
    config = SourceConfig(directory=notes, drafts=True, publish="all")
    source = DirectorySource(config, {}, 1_000_000, ContentScrub("knowledge"))
    place = DirectoryPlace(source, "drafts", "notes")
    return Drafts(host, knowledge, [place], DraftStore(host.database, clock))


def page(
    title: str = "Water rights", body: str = "Who may use the well.", **more: Any
) -> DraftArgs:
    """What a page is to say."""
    told = {"title": title, "contentType": "pattern", "body": body} | more
    return DraftArgs.model_validate(told)
