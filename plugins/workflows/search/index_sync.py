"""Synchronizes a search index with the database, which other replicas write to as well."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gateway.contract import Database, Embedder
from plugins.workflows.model import TargetType

if TYPE_CHECKING:
    from plugins.workflows.search.index import Index, IndexedItem
    from plugins.workflows.store.search_rows import StoredText

_BATCH_SIZE = 100
"""Rows that are taken in before the event loop has its turn: about 2 ms."""
_BEFORE_ALL = -1
"""A stamp before all others."""
_MAX_INLINE_ROWS = 5
"""Rows whose words are found sooner than a thread is asked to."""


class IndexSync:
    """The index of one kind of item, updated before each use.

    Nothing is read, and nothing heavy imported, before the first use.
    """

    def __init__(self, database: Database, type: TargetType, embedder: Embedder | None) -> None:
        self._database = database
        self._type = type
        self._embedder = embedder
        self._turn = asyncio.Lock()
        self._begun = self._done = 0
        self._index: Index | None = None
        self._stamp = _BEFORE_ALL

    async def index(self) -> Index:
        """The index with everything that was committed before this call.

        A caller who had to wait uses another's update if that began after their own call.
        """
        begun = self._begun
        async with self._turn:
            if self._index is None or self._done <= begun:
                self._begun += 1
                index = await self._followed()
                self._done = self._begun
                return index
            return self._index

    async def _followed(self) -> Index:
        from plugins.workflows.search.index import Index

        if self._index is None or self._index.wasteful:
            embedder = self._embedder
            self._index = Index(None if embedder is None else embedder.dimensions)
            self._stamp = _BEFORE_ALL
        await self._read_on(self._index)
        return self._index

    async def _read_on(self, index: Index) -> None:
        """Read what has changed; when cancelled, the next update continues from there."""
        from plugins.workflows.store.search_rows import SearchRows

        rows = SearchRows(self._database, self._type)
        model = None if self._embedder is None else self._embedder.model
        changed = await rows.changed(self._stamp)
        new = [id for id, stamp in changed if not index.knows(id, stamp)]
        for start in range(0, len(new), _BATCH_SIZE):
            read = await rows.read(new[start : start + _BATCH_SIZE], model)
            for text in await self._texts(read):
                index.put(text)
        if changed:
            self._stamp = changed[-1][1]

    async def _texts(self, rows: Sequence[StoredText]) -> Sequence[IndexedItem]:
        dimensions = 0 if self._embedder is None else self._embedder.dimensions
        if len(rows) <= _MAX_INLINE_ROWS:
            return [_text(row, dimensions) for row in rows]
        return await asyncio.to_thread(lambda: [_text(row, dimensions) for row in rows])


def _text(row: StoredText, dimensions: int) -> IndexedItem:
    from plugins.workflows.search.index import IndexedItem, parse_text, vector_of

    name, counts = parse_text(row.text)
    return IndexedItem(
        id=row.id,
        stamp=row.stamp,
        gone=row.gone,
        public=row.public,
        text=hash(row.text),
        name=name,
        counts=counts,
        vector=vector_of(row.vector, dimensions),
    )
