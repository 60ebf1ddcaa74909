"""A knowledge base over real services, filled with documents that the tests write."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gateway.config.language_models import LanguageModels
from gateway.contract import Embedder, Host, Reranker, Tier
from gateway.contract.plugin import no_model
from gateway.plugin_host import make_host
from gateway.services import open_services
from gateway.toolkit.words import terms
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.notes.content import CONTENT
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.store import Store

SETTINGS = SimpleNamespace(
    database="sqlite",
    vectors="embedded",
    vectors_key=None,
    objects="embedded",
    cache="memory",
    embedding="none",
    reranker="none",
    models=LanguageModels(),
)


@dataclass
class WordEmbedder:
    """A small embedder for tests: texts with the same words are near each other.

    Attributes:
        read: every stored text that it was given, in order.
    """

    model: str = "words"
    dimensions: int = 64
    read: list[str] = field(default_factory=list)
    meanings: dict[str, str] = field(default_factory=dict)

    async def passages(self, texts: Sequence[str]) -> Any:
        self.read += texts
        return np.stack([self._vector(text) for text in texts])

    async def query(self, text: str) -> Any:
        return self._vector(text)

    def _vector(self, text: str) -> Any:
        vector = np.full(self.dimensions, 1e-3, dtype=np.float32)
        for term in terms(text):
            meaning = self.meanings.get(term, term)
            vector[sum(meaning.encode()) * 31 % self.dimensions] += 1.0
        return vector / np.linalg.norm(vector)


def document(
    key: str,
    content: str = "",
    *,
    title: str = "",
    tier: Tier = Tier.OPEN,
    date: str = "2024-10-16",
    path: str = "",
    **metadata: Any,
) -> Document:
    """A published document, by its ``contentType/id``."""
    content_type, _, id = key.partition("/")
    fields = {"title": title or id, "date": date, "publish": True, **metadata}
    return Document(
        id=id,
        content_type=ContentType(content_type),
        path=path or f"{key}.md",
        metadata=CONTENT.validate_python({"type": content_type, **fields}),
        content=content,
        synced_at=datetime(2025, 1, 1, tzinfo=UTC),
        commit_sha="",
        tier=tier,
    )


@dataclass(frozen=True)
class Base:
    """A knowledge base and the means to fill it."""

    knowledge: Knowledge
    host: Host

    async def put(self, *documents: Document) -> None:
        """Store and index documents, as the sync does."""
        await self.knowledge.store.put(documents)
        await self.knowledge.index.replace(documents)
        await self.knowledge.index.finish()

    async def remove(self, *keys: str) -> None:
        """Remove documents, as the sync does."""
        await self.knowledge.store.remove(keys)
        await self.knowledge.index.remove(keys)
        await self.knowledge.index.finish()


Opener = Callable[..., Awaitable[Base]]


@asynccontextmanager
async def opened(
    data: Path,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    other_model: Any = no_model,
) -> AsyncGenerator[Base]:
    """A knowledge base in a data directory, closed at the end of the block."""
    async with open_services(SETTINGS, data) as services:
        shares = replace(
            services.for_plugin("knowledge"),
            embedder=embedder,
            reranker=reranker,
            other_model=other_model,
        )
        host = make_host(shares, "knowledge", "Test portal")
        knowledge = await Knowledge.open(host, Store.of(host), "test")
        try:
            yield Base(knowledge, host)
        finally:
            await knowledge.index.close()


@pytest.fixture
def embedder() -> WordEmbedder:
    """The embedder that :func:`base` uses; it counts what it read."""
    return WordEmbedder()


@pytest.fixture
async def base(tmp_path: Path, embedder: WordEmbedder) -> AsyncGenerator[Base]:
    """An empty knowledge base with a model."""
    async with opened(tmp_path, embedder) as base:
        yield base


@pytest.fixture
async def open_base(tmp_path: Path) -> AsyncGenerator[Opener]:
    """Opens a knowledge base with other services than :func:`base` has."""
    async with AsyncExitStack() as stack:

        async def opener(**services: Any) -> Base:
            return await stack.enter_async_context(opened(tmp_path, **services))

        yield opener


@pytest.fixture
def make() -> Callable[..., Document]:
    """Writes a document: ``make("pattern/cells", "body", tier=Tier.MEMBERS, tags=["x"])``."""
    return document


@pytest.fixture
def word_embedder() -> Callable[..., WordEmbedder]:
    """Makes an embedder that takes words for one another: ``word_embedder(dog="cat")``."""

    def made(**meanings: str) -> WordEmbedder:
        stems = {terms(word)[0]: terms(same)[0] for word, same in meanings.items()}
        return replace(WordEmbedder(), meanings=stems, read=[])

    return made
