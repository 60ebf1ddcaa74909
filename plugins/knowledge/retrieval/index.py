"""The search index: passages cut, embedded and stored, with the model kept busy.

Batches of documents pass two stages, in order: the model, then the stores. Each stage works on
one batch at a time, so that the next batch is cut and the last one written while the model is at
work. What a search may see of a document changes at once: new points replace old ones under the
same ids, and only then are the points beyond the last new one removed.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gateway.contract import Collection, Condition, Embedder, Host
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.retrieval.embeddings import Embeddings
from plugins.knowledge.retrieval.index_contents import IndexContents
from plugins.knowledge.retrieval.passages import fingerprint
from plugins.knowledge.retrieval.points import LAYOUT, Prepared, points, prepare, spec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

COLLECTION = "notes"
FORMER_COLLECTION = "passages"
"""The collection of versions that took no secrets out; a store keeps what was replaced for long."""
_MAX_QUEUED_BATCHES = 3
_EMBEDDING_BATCH_SIZE = 256


class Index:
    """Keeps the passages of the served documents, so that they are found.

    Every call is idempotent: after a crash the sync repeats those of which it cannot know
    whether they were finished.

    Args:
        collection: the points.
        embedder: the model, or None where the portal has none; then only terms are indexed.
        kept: the vectors of texts embedded before, where there is a model.
    """

    def __init__(
        self, collection: Collection, embedder: Embedder | None, kept: Embeddings | None
    ) -> None:
        self.collection = collection
        self._embedder = embedder
        self._kept = kept
        self._model_turn = asyncio.Lock()
        self._write_turn = asyncio.Lock()
        self._ahead = asyncio.Semaphore(_MAX_QUEUED_BATCHES)
        self._running: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None
        self._unwritten: dict[str, Vector] = {}

    @classmethod
    async def open(cls, host: Host) -> Index:
        """Open the index on a plugin's services, whose tables must be up to date."""
        embedder = host.embedder
        dimensions = None if embedder is None else embedder.dimensions
        await host.vectors.drop(FORMER_COLLECTION)
        collection = await host.vectors.collection(COLLECTION, spec(dimensions))
        kept = None if embedder is None else Embeddings(host.database, embedder.model)
        return cls(collection, embedder, kept)

    @property
    def fingerprint(self) -> str:
        """The layout, the model and the collection itself.

        When it changes, every document is given again.
        """
        model = self._embedder.model if self._embedder else "keyword"
        return f"{LAYOUT}:{model}:{self.collection.identity}"

    async def replace(self, documents: Sequence[Document]) -> None:
        """Take documents in; returns when they are queued, :meth:`finish` waits for them."""
        latest = {document.key: document for document in documents}
        prepared = await asyncio.to_thread(lambda: [prepare(one) for one in latest.values()])
        await self._ahead.acquire()
        task = asyncio.create_task(self._pass(prepared))
        self._running.add(task)
        task.add_done_callback(self._passed)

    async def remove(self, keys: Sequence[str]) -> None:
        """Forget documents by their ``contentType/id``, after those queued before are written."""
        await self._settle()
        if keys:
            await self.collection.delete([Condition("key", any_of=tuple(keys))])
            if self._kept is not None:
                await self._kept.forget(keys)

    async def stock(self) -> IndexContents:
        """All that it holds, once everything taken in is written."""
        await self._settle()
        return await IndexContents.taken(self.collection, self._kept)

    async def finish(self) -> None:
        """Wait until everything taken in is written, durable and quick to search.

        The manifest records documents only after this.

        Raises:
            Exception: the first failure since the last call; the documents of a batch that
                failed are to be given again.
        """
        await self._settle()
        await self.collection.flush()

    async def close(self) -> None:
        """Stop; what is not written yet is given up."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _settle(self) -> None:
        await asyncio.gather(*self._running, return_exceptions=True)
        if failure := self._failure:
            self._failure = None
            raise failure

    def _passed(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._ahead.release()
        if not task.cancelled() and (failure := task.exception()):
            self._failure = self._failure or failure

    async def _pass(self, batch: Sequence[Prepared]) -> None:
        async with self._model_turn:
            vectors = await self._vectors(batch)
        async with self._write_turn:
            await self._write(batch, vectors)

    async def _vectors(self, batch: Sequence[Prepared]) -> dict[str, Vector]:
        """A vector for each text of the batch, by fingerprint; only new texts are embedded."""
        if self._embedder is None or self._kept is None:
            return {}
        texts = {fingerprint(text): text for one in batch for text in (one.head, *one.headed)}
        vectors = {known: self._unwritten[known] for known in texts.keys() & self._unwritten}
        vectors |= await self._kept.find(texts.keys() - vectors.keys())
        new = sorted(texts.keys() - vectors.keys(), key=lambda text: len(texts[text]))
        for start in range(0, len(new), _EMBEDDING_BATCH_SIZE):
            some = new[start : start + _EMBEDDING_BATCH_SIZE]
            matrix = await self._embedder.passages([texts[one] for one in some])
            fresh = dict(zip(some, matrix, strict=True))
            vectors |= fresh
            self._unwritten |= fresh
        return vectors

    async def _write(self, batch: Sequence[Prepared], vectors: Mapping[str, Vector]) -> None:
        made = await asyncio.to_thread(
            lambda: [point for one in batch for point in points(one, vectors)]
        )
        await self.collection.upsert(made)
        await self._trim(batch)
        if self._kept is not None:
            await self._kept.keep(
                {one.document.key: {text: vectors[text] for text in one.hashes} for one in batch}
            )
        for text in vectors:
            self._unwritten.pop(text, None)

    async def _trim(self, batch: Sequence[Prepared]) -> None:
        """Remove points that an earlier, longer version of a document left behind."""
        by_length: dict[int, list[str]] = defaultdict(list)
        for one in batch:
            by_length[len(one.passages)].append(one.document.key)
        for length, keys in by_length.items():
            beyond = Condition("ordinal", at_least=length + 1)
            await self.collection.delete([Condition("key", any_of=tuple(keys)), beyond])
