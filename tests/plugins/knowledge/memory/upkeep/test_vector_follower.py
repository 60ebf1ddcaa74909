"""Two processes on one PostgreSQL, each with vectors in its own directory: both find all of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from plugins.knowledge.memory.model.requests import DeleteRequest
from plugins.knowledge.memory.upkeep import vector_follower
from tests.migrated import Migrated
from tests.plugins.knowledge.memory.conftest import ANA, BEN, Clock, World, opened
from tests.plugins.knowledge.memory.upkeep.conftest import points
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder
from tests.plugins.skills_repo.waiting import until

pytestmark = pytest.mark.anyio


class Replicas:
    """Opens processes of one portal."""

    def __init__(self, address: str, data: Path, stack: AsyncExitStack) -> None:
        self._address, self._data, self._stack = address, data, stack
        self._clock = Clock()

    async def opened(self, name: str) -> World:
        return await self._stack.enter_async_context(
            opened(self._address, self._data / name, self._clock, WordEmbedder(), follows=True)
        )


@pytest.fixture
def shared(knowledge_migrated: Migrated, postgres_url: str) -> str:
    """One database for all."""
    return knowledge_migrated.on(postgres_url)


@pytest.fixture
async def replicas(
    shared: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncGenerator[Replicas]:
    monkeypatch.setattr(vector_follower, "POLL_INTERVAL_S", 0.05)
    async with AsyncExitStack() as stack:
        yield Replicas(shared, tmp_path, stack)


async def finds(world: World, *contents: str) -> None:
    """Wait until a question by meaning alone finds just these."""

    async def found() -> bool:
        return set(await world.found(ANA, "greenhouse key", mode="semantic")) == set(contents)

    await until(found)


async def test_what_one_is_told_the_other_finds_by_meaning(replicas: Replicas) -> None:
    first, second = await replicas.opened("first"), await replicas.opened("second")
    kept = await first.remember(ANA, "The greenhouse key hangs behind the door.")
    await finds(second, "The greenhouse key hangs behind the door.")
    await second.change(ANA, kept.id, "The greenhouse key is lost.")
    await finds(first, "The greenhouse key is lost.")

    async def one_point() -> bool:
        return await points(first) == await points(second) == [("memory", kept.id, 2)]

    await until(one_point)
    await first.memory.entries.delete(DeleteRequest.model_validate({"id": kept.id}), ANA)
    await finds(second)

    async def none() -> bool:
        return await points(second) == []

    await until(none)


async def test_a_replica_that_comes_later_has_what_was_written_before_it(
    replicas: Replicas,
) -> None:
    first = await replicas.opened("first")
    await first.remember(ANA, "The greenhouse key hangs behind the door.")
    await first.remember(BEN, "The greenhouse key is Ben's.")
    await finds(await replicas.opened("second"), "The greenhouse key hangs behind the door.")


async def test_a_replica_that_is_behind_says_so(
    replicas: Replicas, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_: object, place: int) -> int:
        raise OSError("the store is away")

    monkeypatch.setattr(vector_follower.VectorFollower, "follow", away)
    monkeypatch.setattr(vector_follower, "RETRY_INTERVAL_S", 0.05)
    first = await replicas.opened("first")
    await first.remember(ANA, "The greenhouse key hangs behind the door.")
    answer = await first.ask(ANA, "greenhouse key")
    assert answer.results
    assert "other processes" in answer.metadata.layers_failed["semantic"]
    assert (await first.ask(BEN, "greenhouse key")).results == [], "nothing found is no failure"
    monkeypatch.undo()

    async def caught_up() -> bool:
        return not (await first.ask(ANA, "greenhouse key")).metadata.layers_failed

    await until(caught_up)
