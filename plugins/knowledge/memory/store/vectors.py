"""The vectors of entries in the vector store, where they are searched; the database keeps them too.

The database comes first: a version's point is written after the version, and the database says
which version is current. So whenever a process dies, the vector store is at most behind and never
ahead; upkeep brings it up to date.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from collections.abc import Collection as Ids
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gateway.contract import (
    Collection,
    CollectionSpec,
    Condition,
    Embedder,
    Hit,
    Host,
    Point,
    VectorQuery,
)
from gateway.toolkit.sql import batches
from plugins.knowledge.memory.algorithms.passages import ONE_PASSAGE, later_passages
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.labels import author, labels, reader
from plugins.knowledge.memory.model.policy import person_key
from plugins.knowledge.memory.model.query_context import EntryFilter, Question
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store.failure_log import FailureLog
from plugins.knowledge.memory.store.findable import Findable
from plugins.knowledge.memory.store.kept_vectors import KeptVectors
from plugins.knowledge.retrieval.lasting_collection import LastingCollection
from plugins.knowledge.retrieval.passages import fingerprint
from plugins.knowledge.retrieval.replaced import Replaced

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

VECTOR_NAME = "text"
"""The name of the vector in the store."""
FORMER_COLLECTIONS = ("memory", "memory_archive")
"""Collections of versions that had one for all models; a store keeps what was replaced for long."""
COLLECTION_LAYERS = (Layer.SEMANTIC, Layer.ARCHIVAL)
"""A layer of each collection."""
_SHOWN = ("entry", "version", "passage")
_MORE = 4
"""How many times as many points are looked at where those of long entries crowd out others."""
_INDEXED = {
    "entry": "keyword",
    "layer": "keyword",
    "labels": "keyword",
    "created": "float",
    "version": "integer",
}
PASSAGES_S = 5.0
"""How long a write waits for the later passages of its entry."""
EMBEDDED_AT_ONCE = 8
"""Passages that the model reads together: a question waits for them."""


@dataclass(frozen=True, slots=True)
class NearVector:
    """A vector that is near.

    Attributes:
        id: the entry's.
        version: of the entry.
        cosine: how near.
        passage: which passage of the entry is; 0 for its beginning.
    """

    id: str
    version: int
    cosine: float
    passage: int = 0


class KnownPoint(NamedTuple):
    """A point that stands in the store.

    Attributes:
        collection: where.
        entry: the entry's id.
        version: the version of the entry that it was made of.
        passage: the passage's number; 0 is the beginning.
        whole: whether the points of all later passages stand beside that of the beginning.
    """

    collection: str
    entry: str
    version: int
    passage: int
    whole: bool


class MemoryVectors:
    """The vectors of all layers that have them; those of the archive in a collection of their own.

    Each model has collections of its own, so that vectors of two are never compared.

    Args:
        host: the plugin's services.
        embedder: the model.

    Attributes:
        behind: whether the store has yet to follow what other processes wrote, or was lost.
        replaced: the collections of other models, which go once nobody asks them.
        findable: which entries became findable of late.
    """

    def __init__(self, host: Host, embedder: Embedder) -> None:
        self.embedder = embedder
        self.kept = KeptVectors(host.database, embedder.model)
        self.findable = Findable()
        self._host = host
        self._failed = FailureLog(host.log)
        self._collections: dict[str, Collection] = {}
        self._own = {
            stored_name(collection_name(each), embedder.model) for each in COLLECTION_LAYERS
        }
        self.replaced = Replaced(host, "memory", lambda: self._own)
        self.behind = False

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of texts, each of length one."""
        return list(await self.embedder.passages(texts))

    async def show(self, vectors: Sequence[tuple[Record, Vector]]) -> bool:
        """Let entries that were just written be found by these vectors, and by no earlier ones.

        Where the vector store does not answer they are found by their words, until upkeep has
        made up for it. It makes those later passages too that the model does not read in time: what
        is written is not answered as if it were not.

        Returns:
            Whether the model had the time for all later passages.
        """
        try:
            await self._put_beginnings(vectors)
            for record, _ in vectors:
                if record.version > 1:
                    await self.hide_earlier(record)
            async with asyncio.timeout(PASSAGES_S):
                await self._put_later(vectors)
        except TimeoutError:
            return False
        except Exception as error:
            self._failed("vectors", error)
        return True

    async def follow(self, records: Sequence[Record]) -> None:
        """The same, by the vectors that the database keeps; entries without one are not found."""
        kept = await self.kept.of(records)
        await self.show([(each, kept[each.id]) for each in records if each.id in kept])
        await self.hide([each.id for each in records if not each.embedded])

    async def hide(self, ids: Ids[str]) -> None:
        """Let no vector find these entries; as with :meth:`show`, upkeep makes up for a failure."""
        try:
            await self.take_out(ids)
        except Exception as error:
            self._failed("vectors", error)

    async def put(self, vectors: Sequence[tuple[Record, Vector]]) -> None:
        """Write the points of entries, each in the collection of its layer.

        A long one is found by its beginning first, and by its later passages once these are read.
        """
        await self._put_beginnings(vectors)
        await self._put_later(vectors)

    async def _put_beginnings(self, vectors: Sequence[tuple[Record, Vector]]) -> None:
        by_layer: dict[Layer, list[Point]] = {}
        for record, vector in vectors:
            by_layer.setdefault(record.layer, []).append(_point(record, vector))
        for layer, points in by_layer.items():
            await (await self._collection(layer)).upsert(points)
        for record, _ in vectors:
            self.findable.add(record.id, record.version)

    async def _put_later(self, vectors: Sequence[tuple[Record, Vector]]) -> None:
        for record, vector in vectors:
            if len(record.content) > ONE_PASSAGE:
                await self._put_passages(record, vector)

    async def _put_passages(self, record: Record, vector: Vector) -> None:
        texts = later_passages(record)
        made = await self.kept.of_passages(record)
        if missing := [each for each in texts if each not in made]:
            for some in batches(missing, EMBEDDED_AT_ONCE):
                made |= zip(some, await self.embed(some), strict=True)
            await self.kept.keep_passages(record, made)
        collection = await self._collection(record.layer)
        points = [_point(record, made[text], place) for place, text in enumerate(texts, 1)]
        await collection.upsert(points)
        await collection.upsert([_point(record, vector, later=len(texts))])

    async def take_out(self, ids: Ids[str]) -> None:
        """Remove all points of entries."""
        for layer in COLLECTION_LAYERS:
            collection = await self._collection(layer)
            for some in batches(sorted(ids)):
                await collection.delete([Condition("entry", any_of=tuple(some))])

    async def walk(self) -> AsyncIterator[KnownPoint]:
        """Every point there is."""
        self._collections.clear()  # one that was lost is made anew
        for layer in COLLECTION_LAYERS:
            async for point in (await self._collection(layer)).walk((*_SHOWN, "later")):
                said = point.payload
                at = (collection_name(layer), said["entry"], said["version"])
                yield KnownPoint(*at, said.get("passage", 0), "later" in said)

    async def drop(self, name: str, points: Ids[tuple[str, int]]) -> None:
        """Remove points of a collection, by their entries and versions."""
        collection = await self._named(name)
        for id, version in sorted(points):
            exact = Condition("version", at_least=version, at_most=version)
            await collection.delete([Condition("entry", any_of=(id,)), exact])

    async def hide_earlier(self, record: Record) -> None:
        """Remove the points of an entry's earlier versions, and those in another layer's home."""
        own = Condition("entry", any_of=(record.id,))
        here = await self._collection(record.layer)
        await here.delete([own, Condition("version", at_most=record.version - 1)])
        for layer in COLLECTION_LAYERS:
            if (other := await self._collection(layer)) is not here:
                await other.delete([own])

    async def nearest(
        self, layers: Ids[Layer], question: Question, vector: Vector, among: Ids[str] = ()
    ) -> list[NearVector]:
        """The entries of some layers nearest to a question, each by its nearest passage.

        Args:
            layers: where; all of one collection.
            question: who asks, and what an answer must be.
            vector: the question's.
            among: the ids of the only entries that are looked at; all where there are none.
        """
        entry_filter = question.entry_filter
        where = [
            Condition("layer", any_of=tuple(sorted(map(str, layers)))),
            Condition("labels", any_of=tuple(sorted(map(reader, question.keys)))),
            *(Condition("labels", any_of=tuple(sorted(group))) for group in entry_filter.labels),
        ]
        where += _of_people(entry_filter)
        if among:
            where.append(Condition("entry", any_of=tuple(sorted(among))))
        if entry_filter.after is not None:
            where.append(Condition("created", at_least=entry_filter.after.timestamp()))
        if entry_filter.before is not None:
            where.append(Condition("created", at_most=entry_filter.before.timestamp()))
        collection, limit = await self._collection(next(iter(layers))), question.limit
        for wanted in (limit, _MORE * limit):
            query = VectorQuery(VECTOR_NAME, vector, tuple(where), wanted, _SHOWN)
            (hits,) = await collection.search([query])
            nearest = _nearest_of_each(hits)
            if len(hits) < wanted or len(nearest) >= limit:
                break
        return nearest[:limit]

    async def _collection(self, layer: Layer) -> Collection:
        return await self._named(collection_name(layer))

    async def _named(self, name: str) -> Collection:
        if (known := self._collections.get(name)) is not None:
            return known
        spec = CollectionSpec(dense={VECTOR_NAME: self.embedder.dimensions}, indexed=_INDEXED)
        stored = stored_name(name, self.embedder.model)
        opened = await LastingCollection.open(self._host.vectors, stored, spec, self._lose)
        self._collections[name] = opened
        return opened

    async def is_empty(self) -> bool:
        """Whether there is no point yet, as after a change of the model."""
        for layer in COLLECTION_LAYERS:
            if await (await self._collection(layer)).count([]):
                return False
        return True

    async def remove_former(self, models: Ids[str]) -> None:
        """Have the collections of other models go, and those of earlier versions."""
        others = set(models) - {self.embedder.model}
        names = {collection_name(layer) for layer in COLLECTION_LAYERS}
        former = {stored_name(name, model) for name in names for model in others}
        await self.replaced.add(sorted({*former, *FORMER_COLLECTIONS}))

    def _lose(self) -> None:
        self.behind = True


def _of_people(entry_filter: EntryFilter) -> list[Condition]:
    """What narrows a search to the entries of some people: they can read their own ones.

    What others let them read is among these; and what somebody wrote into another's entry is not,
    unless the entry names them: words find it.
    """
    where = []
    if (owner := entry_filter.owner) is not None:
        where.append(Condition("labels", any_of=(reader(person_key(owner)),)))
    if (written := entry_filter.written) is not None:
        own = {reader(person_key(each)) for each in written.people}
        where.append(Condition("labels", any_of=tuple(sorted(own | {author(written.name)}))))
    return where


def collection_name(layer: str) -> str:
    """The collection of a layer's vectors."""
    return "memory_archive" if layer == Layer.ARCHIVAL else "memory"


def stored_name(name: str, model: str) -> str:
    """What a model's collection is called in the store."""
    return f"{name}-{fingerprint(model)[:12]}"


def _nearest_of_each(hits: Sequence[Hit]) -> list[NearVector]:
    """The nearest passage of each entry, in the order of the hits."""
    nearest: dict[str, NearVector] = {}
    for hit in hits:
        said = hit.payload
        one = NearVector(said["entry"], said["version"], hit.score, said.get("passage", 0))
        nearest.setdefault(one.id, one)
    return list(nearest.values())


def _point(record: Record, vector: Vector, passage: int = 0, later: int | None = None) -> Point:
    """A point of an entry: of its beginning, or of a later passage.

    Args:
        record: the entry.
        vector: of what is embedded of it.
        passage: which passage.
        later: how many later passages stand beside its beginning; None where they do not yet.
    """
    payload = {
        "entry": record.id,
        "version": record.version,
        "layer": str(record.layer),
        "labels": sorted(labels(record)),
        "created": record.created.timestamp(),
    }
    if passage:
        payload["passage"] = passage
    if later is not None:
        payload["later"] = later
    place = f"/{passage}" if passage else ""
    return Point(f"{record.id}/{record.version}{place}", {VECTOR_NAME: vector}, payload=payload)
