"""People who follow memory, without HTTP in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from gateway.contract import Caller, StreamEvent
from plugins.knowledge.memory.model.entry import KnowledgeEntry
from plugins.knowledge.memory.streams.events import EntryGone, KnowledgeUpdateEvent, UpdateFilters
from tests.plugins.knowledge.memory.conftest import World

PATIENCE = 60.0


async def opened(
    world: World, who: Caller, last: str | None = None, **filters: Any
) -> AsyncGenerator[StreamEvent, None]:
    """A stream of updates."""
    asked = UpdateFilters.model_validate(filters)
    return await world.memory.streams.updates(asked, who, last)


async def now(world: World) -> str:
    """The id of the last event."""
    return str(await world.memory.streams.events.newest())


async def heard(stream: AsyncGenerator[StreamEvent, None], until: str) -> list[StreamEvent]:
    """What a stream tells, up to the update that has a content; that one is not among it."""
    told: list[StreamEvent] = []
    async with asyncio.timeout(PATIENCE), aclosing(stream):
        async for event in stream:
            if isinstance(event.data, KnowledgeUpdateEvent) and content(event) == until:
                return told
            told.append(event)
    raise AssertionError("The stream has ended.")


def content(event: StreamEvent) -> str | None:
    """What an update says of its entry; None where that is its id alone."""
    assert isinstance(event.data, KnowledgeUpdateEvent)
    entry = event.data.entry
    return entry.content if isinstance(entry, KnowledgeEntry) else None


def said(events: list[StreamEvent]) -> list[tuple[str, str | None]]:
    """Updates, each with what it says."""
    shown = [each for each in events if isinstance(each.data, KnowledgeUpdateEvent)]
    return [(each.data.type, content(each)) for each in shown]  # type: ignore[union-attr]


def held(events: list[StreamEvent]) -> dict[str, str]:
    """What a client holds that did as it was told: contents by their entries' ids."""
    kept: dict[str, str] = {}
    for each in events:
        if not isinstance(each.data, KnowledgeUpdateEvent):
            continue
        entry = each.data.entry
        if each.data.type == "deleted" or isinstance(entry, EntryGone):
            kept.pop(entry.id, None)
        else:
            kept[entry.id] = entry.content
    return kept


@pytest.fixture
async def begun(world: World) -> World:
    """A memory with events of before, whatever numbers its database begins with."""
    from tests.plugins.knowledge.memory.conftest import CY

    await world.remember(CY, "Before.", "public")
    return world
