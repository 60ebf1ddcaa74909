"""A small knowledge base in a temporary directory, with a real store on disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from gateway.contract import Objects, Tier, Unruled
from gateway.services.objects import ObjectService
from gateway.toolkit.languages import language_of
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.retrieval.index import Index
from plugins.knowledge.store import Store
from plugins.knowledge.sync.sources import DirectorySource
from plugins.knowledge.sync.sync import Outcome, Sync, rules_of


class StoredStock:
    """What such an index holds."""

    def __init__(self, held: dict[str, Document]) -> None:
        self._held = held

    def compare(self, document: Document) -> Iterator[str]:
        if (found := self._held.pop(document.key, None)) != document:
            yield "missing" if found is None else "altered"

    def rest(self) -> Iterator[tuple[str, str]]:
        yield from ((key, "extra") for key in self._held)


class StoredIndex:
    """A search index that keeps whole documents as objects, so that it outlives a process."""

    def __init__(self, objects: Objects, fingerprint: str = "1") -> None:
        self.fingerprint = fingerprint
        self.is_lost = self.has_former = self.has_stand_in = False
        self.replaced: list[str] = []
        self._objects = objects

    async def replace(
        self, documents: Sequence[Document], found: Callable[[], None] = lambda: None
    ) -> None:
        for document in documents:
            self.replaced.append(document.key)
            await self._objects.put(f"index/{document.key}", document.model_dump_json().encode())
        found()

    async def remove(self, keys: Sequence[str]) -> None:
        for key in keys:
            await self._objects.delete(f"index/{key}")

    async def finish(self) -> None:
        return

    async def take_over(self, documents: int) -> None:
        self.has_stand_in = False

    async def documents_in(self, languages: Collection[str]) -> int:
        documents = (await self.documents()).values()
        return sum(language_of(one.content) in languages for one in documents)

    async def stock(self) -> StoredStock:
        return StoredStock(await self.documents())

    async def documents(self) -> dict[str, Document]:
        found = {}
        async for info in self._objects.list("index/"):
            data = await self._objects.get(info.key)
            assert data is not None
            found[info.key.removeprefix("index/")] = Document.model_validate_json(data)
        return found


class Library:
    """Notes in ``root/notes``, served from ``root/objects``.

    Attributes:
        indexed: where the index lies; with the documents, if it is not set.
    """

    def __init__(self, root: Path, objects: Objects | None = None) -> None:
        self.notes = root / "notes"
        self.notes.mkdir(exist_ok=True)
        self.objects = objects or ObjectService(str(root / "objects"))
        self.indexed = self.objects
        self.config: dict[str, Any] = {}
        self.fingerprint = "1"

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.notes / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def note(self, path: str, body: str = "Body.", **fields: Any) -> Path:
        """Write a published note; ``field=None`` leaves a field out."""
        fields = {"publish": True, "date": "2024-10-16"} | fields
        lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
        return self.write(path, "\n".join(["---", *lines, "---", body]))

    def delete(self, path: str) -> None:
        (self.notes / path).unlink()

    async def start(self) -> None:
        """Begin as a new process would."""
        sources = self.config.pop("sources", None) or [{"directory": self.notes}]
        config = KnowledgeConfig.model_validate({"sources": sources, **self.config})
        self.config["sources"] = sources
        self.store = Store(self.objects, Unruled())
        self.index = StoredIndex(self.indexed, self.fingerprint)
        made = [DirectorySource(source, config.types, config.max_note) for source in config.sources]
        rules = rules_of(config)
        index = cast(Index, self.index)
        self.syncing = Sync(made, self.objects, self.store, index, rules, self.notes.parent)
        await self.syncing.load()

    async def sync(self) -> Outcome:
        return await self.syncing.run()

    @property
    def keys(self) -> list[str]:
        return [entry.key for entry in self.store.entries(Tier.MEMBERS)]

    @property
    def problems(self) -> list[str]:
        return [str(problem) for problem in self.syncing.status.problems]

    async def document(self, key: str, up_to: Tier = Tier.MEMBERS) -> Document:
        document = await self.store.document(key, up_to)
        assert document is not None
        return document

    async def stored(self) -> dict[str, bytes]:
        """Every object but the manifest and the index."""
        keys = [info.key async for info in self.objects.list()]
        kept = [key for key in keys if key.startswith(("content/", "raw/"))]
        return {key: await self.objects.get(key) or b"" for key in kept}

    async def agrees(self) -> None:
        """The catalogue, the store and the index hold the same documents, and the originals."""
        indexed = await self.index.documents()
        stored = await self.stored()
        assert sorted(indexed) == self.keys
        for key, document in indexed.items():
            assert await self.document(key) == document
            assert self.store.entry(key, Tier.MEMBERS) == document.entry()
        assert sum(key.startswith("content/") for key in stored) == len(indexed)
        assert sum(key.startswith("raw/") for key in stored) == len(indexed)


@pytest.fixture
async def library(tmp_path: Path) -> Library:
    """An empty knowledge base, opened."""
    made = Library(tmp_path)
    await made.start()
    return made


@pytest.fixture(scope="session")
def library_class() -> type[Library]:
    """For tests that make their own: ``library_class(root, objects=None)``, not opened."""
    return Library
