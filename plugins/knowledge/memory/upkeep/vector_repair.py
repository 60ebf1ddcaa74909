"""Repairs the vector store: it holds exactly the points that the database says it should."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from plugins.knowledge.memory.algorithms.passages import ONE_PASSAGE
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store.inventory import PAGE_SIZE, Inventory
from plugins.knowledge.memory.store.vectors import KnownPoint, MemoryVectors, collection_name

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
        there, whole = set[int](), set[int]()
        swept = filled = 0
        points: defaultdict[str, list[KnownPoint]] = defaultdict(list)
        async for point in self.vectors.walk():
            points[point.collection].append(point)
            if len(points[point.collection]) == PAGE_SIZE:
                swept += await self._swept(points.pop(point.collection), there, whole)
        for some in points.values():
            swept += await self._swept(some, there, whole)
        async for page in self.inventory.embedded():
            missing = [row.id for row in page if row.number not in there]
            filled += await self.fill(missing) if missing else 0
        async for page in self.inventory.embedded(longer_than=ONE_PASSAGE):
            cut = [row.id for row in page if row.number in there - whole]
            filled += await self.fill(cut) if cut else 0
        return {"swept": swept, "filled": filled}

    async def _swept(self, points: Sequence[KnownPoint], there: set[int], whole: set[int]) -> int:
        """Remove those of a collection's points that are over; note of the others what they say.

        Args:
            points: of one collection.
            there: takes the numbers of entries whose first point is right.
            whole: takes the numbers of those that have the points of all their passages.
        """
        name = points[0].collection
        current = await self.inventory.current({(one.entry, one.version) for one in points})
        kept = {point: row for point, row in current.items() if collection_name(row.layer) == name}
        for one in points:
            if one.passage == 0 and (row := kept.get((one.entry, one.version))) is not None:
                there.add(row.number)
                if one.whole:
                    whole.add(row.number)
        over = {(one.entry, one.version) for one in points} - kept.keys()
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
