"""The contents of the search index, to be compared with the documents that it should hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from gateway.contract import Collection
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.retrieval.embeddings import Embeddings
from plugins.knowledge.retrieval.points import MARK, marks, prepare


class IndexContents:
    """The points and the kept vectors, as they were when they were listed.

    Args:
        points: for each document's key, the marks of its points by their ids.
        kept: for each document's key, the fingerprints of its kept vectors; None without a model.
        model: the model's name, or an empty text.
    """

    def __init__(
        self, points: dict[str, dict[str, str]], kept: dict[str, set[str]] | None, model: str
    ) -> None:
        self.points = points
        self.kept = kept
        self._model = model

    @classmethod
    async def taken(cls, collection: Collection, embeddings: Embeddings | None) -> IndexContents:
        """List everything."""
        points: dict[str, dict[str, str]] = defaultdict(dict)
        async for point in collection.walk(["key", MARK]):
            points[str(point.payload.get("key", ""))][point.id] = str(point.payload.get(MARK, ""))
        if embeddings is None:
            return cls(points, None, "")
        return cls(points, await embeddings.all(), embeddings.model)

    def compare(self, document: Document) -> Iterator[str]:
        """What is wrong with a document's part of the index; it counts as compared from then on."""
        prepared = prepare(document)
        wanted, found = marks(prepared), self.points.pop(document.key, {})
        missing, extra = wanted.keys() - found.keys(), found.keys() - wanted.keys()
        stale = [id for id in wanted.keys() & found.keys() if wanted[id] != found[id]]
        for count, reason in (
            (len(missing), "missing"),
            (len(extra), "too many"),
            (len(stale), "of an older or altered text"),
        ):
            if count:
                yield f"{count} of {len(wanted)} points {reason}"
        if self.kept is not None:
            kept = self.kept.pop(document.key, set())
            texts = prepared.readable(self._model).keys()
            if kept != texts:
                yield f"kept vectors: {len(texts - kept)} missing, {len(kept - texts)} too many"

    def rest(self) -> Iterator[tuple[str, str]]:
        """What belongs to no document that was compared: its key, and what it is."""
        for key, points in sorted(self.points.items()):
            yield key, f"{len(points)} points of no document that is served"
        for key, texts in sorted((self.kept or {}).items()):
            yield key, f"{len(texts)} kept vectors of no document that is served"
