"""A knowledge base in this process, over the embedded services, for measuring it from inside."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.config.portal_keys import Services
from gateway.contract import Host
from gateway.plugin_host import make_host
from gateway.services import open_services
from gateway.services.embedding.model_thread import Usage
from plugins.knowledge.config import KnowledgeConfig, SourceConfig
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.store import Store
from plugins.knowledge.sync.sources import DirectorySource
from plugins.knowledge.sync.sync import Sync, rules_of


@dataclass(frozen=True, slots=True)
class Library:
    """A knowledge base and what fills it.

    Attributes:
        knowledge: the knowledge base.
        host: the services it uses.
        sync: brings it up to date with its directory.
        usage: what the embedding model has done so far.
    """

    knowledge: Knowledge
    host: Host
    sync: Sync
    usage: Usage


@asynccontextmanager
async def library(
    content: Path, data: Path, embedding: str = "embedded"
) -> AsyncGenerator[Library]:
    """Open a knowledge base with a model; its first sync is the caller's.

    Args:
        content: the directory of notes.
        data: where its data is kept.
        embedding: the model, as ``services.embedding`` names it.
    """
    async with open_services(Services(embedding=embedding), data) as services:
        if services.embedder is None:
            raise RuntimeError("The model is missing: " + " ".join(services.notices))
        host = make_host(services.for_plugin("knowledge"), "knowledge", "Benchmark")
        config = KnowledgeConfig(sources=(SourceConfig(directory=content),))
        store = Store.of(host)
        knowledge = await Knowledge.open(host, store, "benchmark")
        sources = [
            DirectorySource(source, config.types, config.max_note) for source in config.sources
        ]
        rules = rules_of(config)
        sync = Sync(sources, host.objects, store, knowledge.index, rules, host.data_dir)
        try:
            await sync.load()
            yield Library(knowledge, host, sync, services.embedder.usage)
        finally:
            await knowledge.index.close()
