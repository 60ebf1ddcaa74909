"""The vectors of texts that were embedded before, so that no text is embedded twice.

A vector is found by the text's fingerprint and the model's name, in whichever document the text
stood; it is kept as long as one document holds the text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from gateway.contract import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Table
    from sqlalchemy.ext.asyncio import AsyncConnection

    Vector = NDArray[np.float32]

MEMORY_PREFIX = "memory/"
"""What the keys of memory's vectors begin with; they share the table with the documents'."""


class Embeddings:
    """Kept vectors, in the table that ``migrations/`` makes.

    Args:
        database: the plugin's database.
        model: the name of the embedding model; vectors of another one are not found.

    Attributes:
        model: the same.
    """

    def __init__(self, database: Database, model: str) -> None:
        self._database = database
        self.model = model

    async def find(self, hashes: Iterable[str]) -> dict[str, Vector]:
        """The kept vectors of texts, by fingerprint; unknown ones are left out."""
        import numpy as np
        import sqlalchemy as sa

        from gateway.toolkit.sql import batches

        table = _table()
        found: dict[str, Vector] = {}
        async with self._database.engine.connect() as connection:
            for some in batches(sorted(set(hashes))):
                rows = await connection.execute(
                    sa.select(table.c.text_hash, table.c.vector)
                    .distinct()
                    .where(table.c.text_hash.in_(some), table.c.model == self.model)
                )
                found |= {row.text_hash: np.frombuffer(row.vector, np.float32) for row in rows}
        return found

    async def own_in(
        self, connection: AsyncConnection, texts: Mapping[str, str]
    ) -> dict[str, Vector]:
        """The vectors that documents keep themselves, by key; those of other documents never.

        Args:
            connection: of a transaction, or to read.
            texts: the fingerprint of each document's text, by the document's key.
        """
        import numpy as np
        import sqlalchemy as sa

        from gateway.toolkit.sql import batches

        table = _table()
        chosen = sa.select(table).where(table.c.model == self.model)
        found: dict[str, Vector] = {}
        for some in batches(sorted(texts)):
            for row in await connection.execute(chosen.where(table.c.document.in_(some))):
                if row.text_hash == texts[row.document]:
                    found[row.document] = np.frombuffer(row.vector, np.float32)
        return found

    async def of_document(self, key: str) -> dict[str, Vector]:
        """The vectors that a document keeps, by the fingerprints of their texts."""
        import numpy as np
        import sqlalchemy as sa

        table = _table()
        own = sa.and_(table.c.document == key, table.c.model == self.model)
        async with self._database.read() as connection:
            rows = await connection.execute(sa.select(table.c.text_hash, table.c.vector).where(own))
            return {row.text_hash: np.frombuffer(row.vector, np.float32) for row in rows}

    async def models(self, prefix: str) -> set[str]:
        """The names of the models, of those that begin with ``prefix``, whose vectors are kept."""
        import sqlalchemy as sa

        model = _table().c.model
        chosen = sa.select(model).distinct().where(model.startswith(prefix, autoescape=True))
        async with self._database.read() as connection:
            return set(await connection.scalars(chosen))

    async def of_other_models(self, prefix: str) -> set[str]:
        """The keys of what keeps vectors of other models that begin with ``prefix``."""
        import sqlalchemy as sa

        table = _table()
        others = (table.c.model.startswith(prefix, autoescape=True), table.c.model != self.model)
        async with self._database.read() as connection:
            chosen = sa.select(table.c.document).distinct().where(*others)
            return set(await connection.scalars(chosen))

    async def keep(self, documents: Mapping[str, Mapping[str, Vector]]) -> None:
        """Keep the vectors of documents, in place of those kept for them before.

        Args:
            documents: for each document's key, its texts' fingerprints and vectors.
        """
        async with self._database.begin() as connection:
            await self.keep_in(connection, documents)

    async def keep_in(
        self, connection: AsyncConnection, documents: Mapping[str, Mapping[str, Vector]]
    ) -> None:
        """The same, in the transaction of what they belong to."""
        from gateway.toolkit.sql import insert_into

        rows = [
            {"document": key, "text_hash": text, "model": self.model, "vector": vector.tobytes()}
            for key, vectors in sorted(documents.items())
            for text, vector in sorted(vectors.items())
        ]
        await _forget(connection, list(documents))
        if rows:
            # Another process may keep the same in the same moment.
            new = insert_into(connection, _table()).on_conflict_do_nothing()
            await connection.execute(new, rows)

    async def all(self) -> dict[str, set[str]]:
        """For each document's key, the fingerprints of the texts whose vectors are kept for it.

        A vector of another model counts as an unknown text. Keys that begin with
        :data:`MEMORY_PREFIX` are entries of memory and left out.
        """
        import sqlalchemy as sa

        table = _table()
        found: dict[str, set[str]] = defaultdict(set)
        async with self._database.engine.connect() as connection:  # a cursor needs a transaction
            columns = (table.c.document, table.c.text_hash, table.c.model)
            ours = sa.not_(table.c.document.startswith(MEMORY_PREFIX, autoescape=True))
            rows = await connection.stream(sa.select(*columns).where(ours))
            async for row in rows:
                found[row.document].add(row.text_hash if row.model == self.model else row.model)
        return dict(found)

    async def forget(self, documents: Sequence[str]) -> None:
        """Forget the vectors that were kept for documents, given their keys."""
        async with self._database.begin() as connection:
            await self.forget_in(connection, documents)

    async def forget_in(self, connection: AsyncConnection, documents: Sequence[str]) -> None:
        """The same, in the transaction of what they belong to."""
        await _forget(connection, documents)


async def _forget(connection: AsyncConnection, documents: Sequence[str]) -> None:
    from gateway.toolkit.sql import batches

    table = _table()
    for some in batches(documents):
        await connection.execute(table.delete().where(table.c.document.in_(some)))


@lru_cache(maxsize=1)
def _table() -> Table:
    import sqlalchemy as sa

    return sa.Table(
        "knowledge_embeddings",
        sa.MetaData(),
        sa.Column("document", sa.String(128), primary_key=True),
        sa.Column("text_hash", sa.String(32), primary_key=True),
        sa.Column("model", sa.String(255)),
        sa.Column("vector", sa.LargeBinary),
    )
