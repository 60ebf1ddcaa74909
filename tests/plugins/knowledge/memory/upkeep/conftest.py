"""What the upkeep's tests look at: whole tables, and the points of the vector store."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from plugins.knowledge.memory.store.tables import metadata
from plugins.knowledge.memory.store.vectors import KnownPoint
from tests.plugins.knowledge.memory.conftest import World

DAY = timedelta(days=1)


async def upkeep(world: World, **later: float) -> Mapping[str, Any]:
    """A pass of the upkeep, so much later; no part of it may fail."""
    await world.memory.usage.flush()
    world.clock.time += timedelta(**later)
    counts = await world.memory.upkeep.once()
    assert counts["failed"] == []
    return {name: count for name, count in counts.items() if count}


async def rows(world: World, table: str) -> list[Any]:
    """All rows of a table of memory."""
    async with world.host.database.read() as connection:
        return list(await connection.execute(sa.select(metadata.tables[f"memory_{table}"])))


async def points(world: World) -> list[tuple[str, str, int]]:
    """The points of entries' beginnings: each one's collection, entry and version."""
    return sorted(each[:3] for each in await every_point(world) if each.passage == 0)


async def every_point(world: World) -> list[KnownPoint]:
    """Every point of the vector store."""
    vectors = world.memory.entries.vectors
    assert vectors is not None
    return [each async for each in vectors.walk()]


async def named(world: World, id: str) -> set[str]:
    """The tables in which an id, or what is kept under it, can be read."""
    found = set()
    async with world.host.database.read() as connection:
        for table in metadata.sorted_tables:
            listed = await connection.execute(sa.select(table))
            if any(id in str(row) for row in listed):
                found.add(table.name)
        kept = await connection.execute(sa.text("SELECT document FROM knowledge_embeddings"))
        if any(id in row.document for row in kept):
            found.add("knowledge_embeddings")
    return found
