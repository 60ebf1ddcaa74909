"""Repairs the vector store: it holds exactly the points that the database says it should."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store.inventory import PAGE_SIZE, Inventory
from plugins.knowledge.memory.store.vectors import MemoryVectors, collection_name

EMBEDDING_BATCH_SIZE = 16
"""Texts that are embedded at once; a question waits for one such portion at most."""


@dataclass(frozen=True, slots=True)
class VectorRepair:
    """Compares the vector store with the database.

    Attributes:
        inventory: what there is.
        vectors: the vector store.
    """

    inventory: Inventory
    vectors: MemoryVectors

    async def __call__(self) -> dict[str, int]:
        """Remove every point that is not an entry's current one; make those that are missing.

        The points are read before the database is, which is never behind them: what it does not
        know of a point is over.

        Returns:
            How many points were removed, and how many made.
        """
        there: set[int] = set()
        swept = filled = 0
        points: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        async for name, id, version in self.vectors.walk():
            points[name].append((id, version))
            if len(points[name]) == PAGE_SIZE:
                swept += await self._swept(name, points.pop(name), there)
        for name, some in points.items():
            swept += await self._swept(name, some, there)
        async for page in self.inventory.embedded():
            missing = [row.id for row in page if row.number not in there]
            filled += await self.fill(missing) if missing else 0
        return {"swept": swept, "filled": filled}

    async def _swept(self, name: str, points: Sequence[tuple[str, int]], there: set[int]) -> int:
        current = await self.inventory.current(points)
        kept = {point: row for point, row in current.items() if collection_name(row.layer) == name}
        there.update(row.number for row in kept.values())
        over = [point for point in points if point not in kept]
        await self.vectors.drop(name, over)
        return len(over)

    async def fill(self, ids: Collection[str]) -> int:
        """Make points of the vectors that are kept; of other entries the model makes them."""
        records = await self.inventory.records(ids)
        kept = await self.vectors.kept.of(list(records.values()))
        await self.vectors.put([(records[id], vector) for id, vector in kept.items()])
        left = [each for each in records.values() if each.embedded and each.id not in kept]
        for start in range(0, len(left), EMBEDDING_BATCH_SIZE):
            await self._make(left[start : start + EMBEDDING_BATCH_SIZE])
        await self._take_back([*(records[id] for id in kept), *left])
        return len(kept) + len(left)

    async def _take_back(self, made: Sequence[Record]) -> None:
        """Remove points of entries that were written anew before their points were made."""
        current = await self.inventory.current([(each.id, each.version) for each in made])
        for each in made:
            if (each.id, each.version) not in current:
                await self.vectors.drop(collection_name(each.layer), [(each.id, each.version)])

    async def _make(self, records: Sequence[Record]) -> None:
        made = await self.vectors.embed([each.text for each in records])
        pairs = list(zip(records, made, strict=True))
        for record, vector in pairs:
            await self.vectors.kept.keep(record, vector)
        await self.vectors.put(pairs)
