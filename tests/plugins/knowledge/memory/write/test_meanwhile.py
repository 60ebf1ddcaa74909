"""Two who contradict each other at the same moment are told so, as if one had come first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from plugins.knowledge.memory.model.entry import KnowledgeEntry
from plugins.knowledge.memory.model.requests import CreateRequest, UpdateRequest
from plugins.knowledge.memory.model.responses import CreateResponse
from plugins.knowledge.memory.upkeep import vector_follower
from tests.migrated import Migrated
from tests.plugins.knowledge.memory.conftest import ANA, BEN, Clock, Opener, World, opened
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder

pytestmark = pytest.mark.anyio
SHARED = {"policy": "shared", "allowed_teams": ["garden"]}
MACHINES = ["boiler", "chiller", "sprayer", "sander", "kettle", "crane"]


async def say(world: World, who: Any, content: str) -> CreateResponse:
    request = {"entry": {"content": content}, "options": {"access_policy": SHARED}}
    return await world.memory.governed.create(CreateRequest.model_validate(request), who)


def named(one: CreateResponse, other: CreateResponse) -> list[str]:
    """Which of two answers name the other one's entry as at odds with theirs."""
    of_each = ((one, other), (other, one))
    return [
        answer.entry.id
        for answer, theirs in of_each
        for each in answer.near
        if each.why and each.id == theirs.entry.id
    ]


@pytest.mark.parametrize("embedder", [WordEmbedder, lambda: None], ids=["model", "words"])
@pytest.mark.parametrize("other", [ANA, BEN], ids=["one person", "two people"])
async def test_what_is_written_at_once_is_compared(
    open_world: Opener, other: Any, embedder: Callable[[], Any]
) -> None:
    world = await open_world(embedder())
    for machine in MACHINES:
        one, two = await asyncio.gather(
            say(world, ANA, f"The {machine} runs at 5 bar."),
            say(world, other, f"The {machine} runs at 6 bar."),
        )
        assert len(named(one, two)) == 1, machine
    pairs = (await world.memory.review(ANA)).pairs
    assert len(pairs) == len(MACHINES)


async def test_what_is_changed_at_once_is_compared(world: World) -> None:
    async def change(entry: KnowledgeEntry, content: str) -> CreateResponse:
        request = UpdateRequest.model_validate({"entry": {"content": content}})
        return await world.memory.entries.update(entry.id, request, ANA)

    for machine in MACHINES:
        first = await world.remember(ANA, f"Something of the {machine} and of number 1.")
        second = await world.remember(ANA, f"Another word on {machine} with number 2.")
        one, two = await asyncio.gather(
            change(first, f"The {machine} runs at 5 bar."),
            change(second, f"The {machine} runs at 6 bar."),
        )
        assert len(named(one, two)) == 1, machine


async def test_what_nobody_else_may_read_is_named_to_nobody(world: World) -> None:
    one, two = await asyncio.gather(
        world.memory.governed.create(
            CreateRequest.model_validate({"entry": {"content": "The boiler runs at 5 bar."}}), ANA
        ),
        say(world, BEN, "The boiler runs at 6 bar."),
    )
    assert two.near == []
    assert {each.id for each in one.near} <= {two.entry.id}


@pytest.fixture
def shared(knowledge_migrated: Migrated, postgres_url: str) -> str:
    """One database for all."""
    return knowledge_migrated.on(postgres_url)


@pytest.fixture
async def replicas(
    shared: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[list[World]]:
    """Two processes of one portal, of which each is slow to hear of the other."""
    monkeypatch.setattr(vector_follower, "POLL_INTERVAL_S", 60.0)
    clock = Clock(timedelta(milliseconds=1))  # what is a moment ago ends after five seconds
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                opened(shared, tmp_path / name, clock, WordEmbedder(), follows=True)
            )
            for name in ("first", "second")
        ]


async def test_what_is_written_at_once_on_two_replicas_is_compared(replicas: list[World]) -> None:
    first, second = replicas
    for machine in MACHINES:
        one, two = await asyncio.gather(
            say(first, ANA, f"The {machine} runs at 5 bar."),
            say(second, BEN, f"The {machine} runs at 6 bar."),
        )
        assert len(named(one, two)) == 1, machine


async def test_what_another_replica_wrote_a_moment_ago_is_compared(replicas: list[World]) -> None:
    first, second = replicas
    one = await say(first, ANA, "The boiler runs at 5 bar.")
    two = await say(second, BEN, "The boiler runs at 6 bar.")
    assert named(one, two) == [two.entry.id]
