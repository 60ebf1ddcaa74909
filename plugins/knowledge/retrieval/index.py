"""The search index: passages cut, embedded and stored, with the model kept busy.

Batches of documents pass two stages, in order: the model, then the stores. Each stage works on
one batch at a time, so that the next batch is cut and the last one written while the model is at
work. What a search may see of a document changes at once: new points replace old ones under the
same ids, and only then are the points beyond the last new one removed.

Another model or layout has a collection of its own, so that nothing mixes. Until that holds every
document, the one before it answers, by words: its vectors are another model's.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from gateway.contract import Collection, Condition, Embedder, Host
from gateway.toolkit.languages import DEFAULT, STEMMERS
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.retrieval.embeddings import Embeddings
from plugins.knowledge.retrieval.index_contents import IndexContents
from plugins.knowledge.retrieval.lasting_collection import LastingCollection
from plugins.knowledge.retrieval.passages import fingerprint
from plugins.knowledge.retrieval.points import HEADS, LAYOUT, Prepared, points, prepare, spec
from plugins.knowledge.retrieval.succession import Former, Succession

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

COLLECTION = "notes"
FORMER_COLLECTIONS = ("passages", "notes")
"""Collections of versions before layout 3; a store keeps what was replaced for long."""
_MAX_QUEUED_BATCHES = 3
"""Batches of documents that may be queued before :meth:`Index.replace` waits."""
_EMBEDDING_BATCH_SIZE = 256
"""Texts that the model is given at once."""


def collection_name(model: str) -> str:
    """The name of the collection for a model, in the layout of today."""
    return f"{COLLECTION}-{fingerprint(f'{LAYOUT}:{model}')[:12]}"


class Index:
    """Keeps the passages of the served documents, so that they are found.

    Every call is idempotent: after a crash the sync repeats those of which it cannot know
    whether they were finished.

    Args:
        collection: the points.
        embedder: the model, or None where the portal has none; then only terms are indexed.
        kept: the vectors of texts embedded before, where there is a model.
        succession: the collection that answers until this one is whole.

    Attributes:
        is_lost: whether the collection was made anew since, so that nothing is in it yet.
    """

    def __init__(
        self,
        collection: Collection,
        embedder: Embedder | None,
        kept: Embeddings | None,
        succession: Succession | None = None,
    ) -> None:
        self.collection = collection
        self.is_lost = False
        self._succession = succession
        self._languages: tuple[tuple[int, int, str] | None, tuple[str, ...]] = (None, ())
        self._written = 0
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
        model = embedder.model if embedder else "keyword"
        for former in FORMER_COLLECTIONS:
            await host.vectors.drop(former)
        name = collection_name(model)
        collection = await LastingCollection.open(
            host.vectors, name, spec(dimensions), lambda: opened.lose()
        )
        succession = await Succession.open(host, name, embedder)
        kept = None if embedder is None else Embeddings(host.database, embedder.model)
        opened = cls(collection, embedder, kept, succession)
        return opened

    def lose(self) -> None:
        """The collection was gone from the store, and is made anew: a sync has to fill it."""
        self.is_lost = True

    async def look_after_replaced(self) -> None:
        """Have collections go that another model or layout has replaced, once nobody asks them."""
        if self._succession is not None:
            await self._succession.look()

    @property
    def has_former(self) -> bool:
        """Whether another collection answers while this one is being filled."""
        return self._succession is not None and self._succession.former is not None

    @property
    def has_stand_in(self) -> bool:
        """Whether another model's whole index answers by meaning while this one is being filled."""
        former = None if self._succession is None else self._succession.former
        return former is not None and former.embedder is not None

    async def former(self, documents: int) -> Former | None:
        """What answers in this one's place; None where this one does.

        Args:
            documents: as for :meth:`take_over`.
        """
        await self.take_over(documents)
        return None if self._succession is None else self._succession.former

    async def take_over(self, documents: int) -> None:
        """Answer in the place of the one before, once all are in.

        Args:
            documents: how many there are.
        """
        if self._succession is None or not self.has_former:
            return
        if await self.collection.count([HEADS]) >= documents:
            await self._succession.complete()

    async def languages(self, version: int) -> tuple[str, ...]:
        """The languages of the documents, by whose stemmers words are sought.

        They are those of the collection that answers: another model's, until this one is whole.

        Args:
            version: of the catalogue; they are counted anew where it has changed.
        """
        former = None if self._succession is None else self._succession.former
        answers = self.collection if former is None else former.collection
        now = (version, self._written, answers.identity)
        if self._languages[0] != now:
            counts = await asyncio.gather(
                *(answers.count([Condition("language", any_of=(one,))]) for one in STEMMERS)
            )
            found = tuple(one for one, count in zip(STEMMERS, counts, strict=True) if count)
            self._languages = now, found or (DEFAULT,)
        return self._languages[1]

    async def documents_in(self, languages: Iterable[str]) -> int:
        """How many documents are in some languages."""
        return await self.collection.count([Condition("language", any_of=tuple(languages)), HEADS])

    @property
    def fingerprint(self) -> str:
        """The layout, the model and the collection itself.

        When it changes, every document is given again.
        """
        model = self._embedder.model if self._embedder else "keyword"
        return f"{LAYOUT}:{model}:{self.collection.identity}"

    async def replace(
        self, documents: Sequence[Document], found: Callable[[], None] = lambda: None
    ) -> None:
        """Take documents in; returns when they are queued, :meth:`finish` waits for them.

        Args:
            documents: new, or changed.
            found: called once they can be found.
        """
        latest = {document.key: document for document in documents}
        prepared = await asyncio.to_thread(lambda: [prepare(one) for one in latest.values()])
        await self._ahead.acquire()
        task = asyncio.create_task(self._pass(prepared, found))
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
        if self._succession is not None:
            await self._succession.close()

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

    async def _pass(self, batch: Sequence[Prepared], found: Callable[[], None]) -> None:
        async with self._model_turn:
            vectors = await self._vectors(batch)
        async with self._write_turn:
            await self._write(batch, vectors)
        self._written += 1
        found()

    async def _vectors(self, batch: Sequence[Prepared]) -> dict[str, Vector]:
        """A vector for each text that the model can read, by fingerprint; new ones are embedded."""
        if self._embedder is None or self._kept is None:
            return {}
        model = self._embedder.model
        texts = {hash: text for one in batch for hash, text in one.readable(model).items()}
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
            texts = {one.document.key: one.readable(self._kept.model) for one in batch}
            await self._kept.keep(
                {key: {one: vectors[one] for one in own} for key, own in texts.items()}
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
