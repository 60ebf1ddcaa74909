"""The vectors of entries: in the vector store to be searched, in the database to be kept.

Whatever the vector store loses is filled again from the database, without the model. Each version
has a point of its own, which is written before the version is and removed after the next one is:
whatever moment a process dies at, the database says which of them counts.
"""

from __future__ import annotations

from collections.abc import Collection as Ids
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.contract import (
    Collection,
    CollectionSpec,
    Condition,
    Embedder,
    Host,
    Point,
    VectorQuery,
)
from plugins.knowledge.memory.asking import Question
from plugins.knowledge.memory.entries import Layer
from plugins.knowledge.memory.labels import labels, reader
from plugins.knowledge.memory.records import Record
from plugins.knowledge.retrieval.embeddings import Embeddings
from plugins.knowledge.retrieval.passages import fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

TEXT = "text"
"""The name of the vector in the store."""
_NAMES = {Layer.ARCHIVAL: "memory_archive"}
_NAME = "memory"
_INDEXED = {
    "entry": "keyword",
    "layer": "keyword",
    "labels": "keyword",
    "created": "float",
    "version": "integer",
}


@dataclass(frozen=True, slots=True)
class Near:
    """A vector that is near: of which entry and version, and its cosine."""

    id: str
    version: int
    cosine: float


class MemoryVectors:
    """The vectors of all layers that have them; those of the archive in a collection of their own.

    Args:
        host: the plugin's services.
        embedder: the model.
    """

    def __init__(self, host: Host, embedder: Embedder) -> None:
        self.embedder = embedder
        self._host = host
        self._kept = Embeddings(host.database, embedder.model)
        self._collections: dict[str, Collection] = {}

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of texts, each of length one."""
        return list(await self.embedder.passages(texts))

    async def put(self, vectors: Sequence[tuple[Record, Vector]]) -> None:
        """Keep the vectors of entries, and make them searchable in their layers."""
        await self._kept.keep(
            {_document(record.id): {fingerprint(record.text): each} for record, each in vectors}
        )
        by_layer: dict[Layer, list[Point]] = {}
        for record, vector in vectors:
            by_layer.setdefault(record.layer, []).append(_point(record, vector))
        for layer, points in by_layer.items():
            await (await self._collection(layer)).upsert(points)

    async def outdated(self, record: Record) -> None:
        """Let the vectors of an entry's earlier versions, and of other layers, be found no more."""
        own = Condition("entry", any_of=(record.id,))
        home = await self._collection(record.layer)
        await home.delete([own, Condition("version", at_most=record.version - 1)])
        for layer in (Layer.SEMANTIC, Layer.ARCHIVAL):
            if (other := await self._collection(layer)) is not home:
                await other.delete([own])

    async def take_out(self, ids: Ids[str]) -> None:
        """Let entries be found no more; their vectors are kept."""
        for layer in (Layer.SEMANTIC, Layer.ARCHIVAL):
            collection = await self._collection(layer)
            if ids:
                await collection.delete([Condition("entry", any_of=tuple(sorted(ids)))])

    async def remove(self, ids: Ids[str]) -> None:
        """Forget the vectors of entries."""
        await self.take_out(ids)
        await self._kept.forget([_document(each) for each in sorted(ids)])

    async def of(self, records: Sequence[Record]) -> Mapping[str, Vector]:
        """The kept vectors of entries, by their ids."""
        hashes = {each.id: fingerprint(each.text) for each in records if each.embedded}
        found = await self._kept.find(hashes.values())
        return {id: found[one] for id, one in hashes.items() if one in found}

    async def nearest(self, layer: Layer, question: Question, vector: Vector) -> list[Near]:
        """The entries of a layer nearest to a question.

        Args:
            layer: where.
            question: who asks, and what an answer must be.
            vector: the question's.
        """
        narrowing = question.narrowing
        where = [
            Condition("layer", any_of=(str(layer),)),
            Condition("labels", any_of=tuple(sorted(map(reader, question.keys)))),
            *(Condition("labels", any_of=tuple(sorted(group))) for group in narrowing.labels),
        ]
        if narrowing.after is not None:
            where.append(Condition("created", at_least=narrowing.after.timestamp()))
        if narrowing.before is not None:
            where.append(Condition("created", at_most=narrowing.before.timestamp()))
        query = VectorQuery(TEXT, vector, tuple(where), question.limit, ("entry", "version"))
        (hits,) = await (await self._collection(layer)).search([query])
        return [Near(hit.payload["entry"], hit.payload["version"], hit.score) for hit in hits]

    async def _collection(self, layer: Layer) -> Collection:
        name = _NAMES.get(layer, _NAME)
        if name not in self._collections:
            spec = CollectionSpec(dense={TEXT: self.embedder.dimensions}, indexed=_INDEXED)
            self._collections[name] = await self._host.vectors.collection(name, spec)
        return self._collections[name]


def _document(id: str) -> str:
    return f"memory/{id}"


def _point(record: Record, vector: Vector) -> Point:
    return Point(
        id=f"{record.id}/{record.version}",
        dense={TEXT: vector},
        payload={
            "entry": record.id,
            "version": record.version,
            "layer": str(record.layer),
            "labels": sorted(labels(record)),
            "created": record.created.timestamp(),
        },
    )
