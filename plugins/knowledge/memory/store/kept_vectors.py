"""The vectors of entries in the database: they restore the vector store without the model.

They are written in the transaction of the entry, so that a client's own vector is never lost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from plugins.knowledge.memory.algorithms.passages import later_passages
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store.tables import entries
from plugins.knowledge.retrieval.embeddings import MEMORY_PREFIX, Embeddings
from plugins.knowledge.retrieval.passages import fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_LATER = "/passages"
"""What the keys of the vectors of an entry's later passages end with: no id has a slash."""


class KeptVectors:
    """The kept vectors.

    Args:
        database: the plugin's database, its tables up to date.
        model: the name of the embedding model; "" where there is none, and nothing is found.
    """

    def __init__(self, database: Database, model: str = "") -> None:
        # Clients may give vectors of their own: no other text is ever compared by those.
        self._database = database
        self._kept = Embeddings(database, f"{MEMORY_PREFIX}{model}")

    async def write_in(
        self,
        connection: AsyncConnection,
        records: Sequence[Record],
        vectors: Mapping[str, Vector],
    ) -> None:
        """Keep what goes with entries that are written.

        Args:
            connection: their transaction.
            records: the entries; of one that has no vector any more, none is kept.
            vectors: new vectors by the entries' ids; without one, the kept one stays.
        """
        given = {
            _document(each.id): {fingerprint(each.text): vectors[each.id]}
            for each in records
            if each.id in vectors
        }
        changed: dict[str, dict[str, Vector]] = {
            _passages(each.id): {} for each in records if each.id in vectors
        }
        await self._kept.keep_in(connection, {**given, **changed})
        bare = [each.id for each in records if not each.embedded and each.version > 1]
        await self.delete_in(connection, bare)

    async def keep(self, record: Record, vector: Vector) -> None:
        """Keep a vector that was made again, unless the entry is another one by now."""
        own = sa.and_(entries.c.id == record.id, entries.c.version == record.version)
        same = sa.update(entries).where(own).values(embedded=True).returning(entries.c.number)
        async with self._database.begin() as connection:
            if await connection.scalar(same) is not None:
                await self.write_in(connection, [record], {record.id: vector})

    async def keep_passages(self, record: Record, vectors: Mapping[str, Vector]) -> None:
        """Keep the vectors of an entry's later passages, unless it is another one by now.

        Args:
            record: the entry.
            vectors: them, by what is embedded.
        """
        own = sa.and_(entries.c.id == record.id, entries.c.version == record.version)
        given = {fingerprint(text): vector for text, vector in vectors.items()}
        async with self._database.begin() as connection:
            if await connection.scalar(sa.select(entries.c.number).where(own)) is not None:
                await self._kept.keep_in(connection, {_passages(record.id): given})

    async def of_passages(self, record: Record) -> dict[str, Vector]:
        """The kept vectors of an entry's later passages, by what is embedded."""
        texts = {fingerprint(text): text for text in later_passages(record)}
        found = await self._kept.of_document(_passages(record.id))
        return {texts[key]: vector for key, vector in found.items() if key in texts}

    async def models(self) -> set[str]:
        """The names of the models whose vectors of entries are kept."""
        return {name.removeprefix(MEMORY_PREFIX) for name in await self._kept.models(MEMORY_PREFIX)}

    async def of_other_models(self) -> set[str]:
        """The ids of entries that keep vectors of other models."""
        kept = await self._kept.of_other_models(MEMORY_PREFIX)
        return {each.removeprefix(MEMORY_PREFIX).removesuffix(_LATER) for each in kept}

    async def delete_in(self, connection: AsyncConnection, ids: Collection[str]) -> None:
        """Forget the vectors of entries, in the transaction that removes them."""
        named = [name(each) for each in sorted(ids) for name in (_document, _passages)]
        await self._kept.forget_in(connection, named)

    async def of(self, records: Collection[Record]) -> Mapping[str, Vector]:
        """The vectors of entries, by their ids; those are left out that are not kept."""
        async with self._database.read() as connection:
            return await self.of_in(connection, records)

    async def of_in(
        self, connection: AsyncConnection, records: Collection[Record]
    ) -> Mapping[str, Vector]:
        """The same, in a transaction."""
        wanted = {_document(each.id): fingerprint(each.text) for each in records if each.embedded}
        found = await self._kept.own_in(connection, wanted)
        return {document.removeprefix(MEMORY_PREFIX): vector for document, vector in found.items()}


def _document(id: str) -> str:
    return f"{MEMORY_PREFIX}{id}"


def _passages(id: str) -> str:
    """Under what the vectors of an entry's later passages are kept."""
    return f"{MEMORY_PREFIX}{id}{_LATER}"
