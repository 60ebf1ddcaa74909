"""Batches over a memory, done at once rather than by the jobs of a whole portal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import sqlalchemy as sa

from gateway.contract import Caller
from plugins.knowledge.memory.batches.batches import Batches
from plugins.knowledge.memory.model.requests import BatchRequest
from plugins.knowledge.memory.model.responses import BatchReport
from plugins.knowledge.memory.store.tables import metadata
from tests.plugins.knowledge.memory.conftest import World


@dataclass
class Queue:
    """Takes jobs and leaves it to the test when they run.

    Attributes:
        batches: the ids of the batches that wait.
    """

    batches: list[str] = field(default_factory=list)

    async def enqueue(self, name: str, payload: Mapping[str, Any], *, key: str) -> str:
        assert (name, payload) == ("batch", {"batch": key.partition("/")[0]})
        self.batches.append(key)
        return key


@dataclass
class Sender:
    """Sends batches to a memory.

    Attributes:
        world: the memory.
        queue: what was sent and not done.
        batches: the operations.
    """

    world: World
    queue: Queue
    batches: Batches

    async def submit(
        self, who: Caller, operation: str, entries: Sequence[Any], **options: bool
    ) -> str:
        """Send a batch; its id."""
        given = {"operation": operation, "entries": list(entries), "options": options}
        sent = await self.batches.submit(BatchRequest.model_validate(given), who)
        assert sent.status == "pending"
        assert self.queue.batches[-1] == sent.operation_id
        return sent.operation_id

    async def send(
        self, who: Caller, operation: str, entries: Sequence[Any], **options: bool
    ) -> BatchReport:
        """Send a batch, do it, and see what became of it."""
        id = await self.submit(who, operation, entries, **options)
        await self.batches.work(id)
        return await self.batches.report(id, who, 0, 1000)

    async def rows(self, table: str, **where: Any) -> list[Any]:
        """The rows of a table, in the order of their keys."""
        chosen = metadata.tables[table]
        found = sa.select(chosen).where(*(chosen.c[name] == each for name, each in where.items()))
        async with self.world.host.database.read() as connection:
            return list(await connection.execute(found.order_by(*chosen.primary_key)))


def sender_on(world: World) -> Sender:
    """A sender on a memory."""
    queue: Any = Queue()
    batches = replace(world.memory.batches, jobs=queue, wait=0.001)
    return Sender(world, queue, batches)


@pytest.fixture
async def sender(world: World) -> Sender:
    """A sender on a memory with a model."""
    return sender_on(world)


def draft(content: str, **more: Any) -> dict[str, Any]:
    """An entry to create."""
    return {"entry": {"content": content}, **more}
