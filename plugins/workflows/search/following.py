"""Keeps an index in step with the database, in which other replicas write too."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gateway.contract import Database, Embedder
from plugins.workflows.model import TargetType

if TYPE_CHECKING:
    from plugins.workflows.search.index import Index, Text
    from plugins.workflows.search.rows import Stored

_AT_ONCE = 100
"""Rows that are taken in before the event loop has its turn: about 2 ms."""
_NEVER = -1
"""A stamp before all others."""
_READ_HERE = 5
"""Rows whose words are found sooner than a thread is asked to."""


class Following:
    """The index of one kind of items, brought up to date before each use.

    Nothing is read, and nothing heavy imported, before the first use.

    Args:
        database: the plugin's database.
        type: workflows or skill cards.
        embedder: the portal's model, or None.
    """

    def __init__(self, database: Database, type: TargetType, embedder: Embedder | None) -> None:
        self._database = database
        self._type = type
        self._embedder = embedder
        self._turn = asyncio.Lock()
        self._begun = self._done = 0
        self._index: Index | None = None
        self._stamp = _NEVER

    async def index(self) -> Index:
        """The index with all that was committed when this was called.

        Whoever waits for another's reading that began after their call is content with it.
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
            self._stamp = _NEVER
        await self._read_on(self._index)
        return self._index

    async def _read_on(self, index: Index) -> None:
        """Take in what has changed; if this is given up in the middle, the next goes on there."""
        from plugins.workflows.search.rows import SearchRows

        rows = SearchRows(self._database, self._type)
        model = None if self._embedder is None else self._embedder.model
        changed = await rows.changed(self._stamp)
        new = [id for id, stamp in changed if not index.knows(id, stamp)]
        for start in range(0, len(new), _AT_ONCE):
            read = await rows.read(new[start : start + _AT_ONCE], model)
            for text in await self._texts(read):
                index.put(text)
        if changed:
            self._stamp = changed[-1][1]

    async def _texts(self, rows: Sequence[Stored]) -> Sequence[Text]:
        dimensions = 0 if self._embedder is None else self._embedder.dimensions
        if len(rows) <= _READ_HERE:
            return [_text(row, dimensions) for row in rows]
        return await asyncio.to_thread(lambda: [_text(row, dimensions) for row in rows])


def _text(row: Stored, dimensions: int) -> Text:
    from plugins.workflows.search.index import Text, read, vector_of

    name, counts = read(row.text)
    return Text(
        id=row.id,
        stamp=row.stamp,
        gone=row.gone,
        public=row.public,
        text=hash(row.text),
        name=name,
        counts=counts,
        vector=vector_of(row.vector, dimensions),
    )
