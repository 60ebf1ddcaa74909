"""What an entry was is told in pages, each version in brief, and one of them whole."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.contract import Tool
from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.tools.entries import tools
from tests.plugins.knowledge.memory.conftest import ANA, World
from tests.plugins.knowledge.memory.tools.test_tools import call

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
LONG = "alpha bétä " * 4000


async def shown(world: World, id: str, **more: Any) -> list[Any]:
    listing = await call(world, "memory_history", id=id, **more)
    return list(await listing.ready(listing.items))


async def test_a_history_of_long_versions_is_short_and_leads_to_each(world: World) -> None:
    kept = await world.remember(ANA, f"v1 {LONG}")
    for number in range(2, 13):
        await world.change(ANA, kept.id, f"v{number} {LONG}")
    versions = await shown(world, kept.id)
    assert [each.version for each in versions] == list(range(12, 0, -1))
    assert sum(len(each.model_dump_json()) for each in versions) < 10_000
    assert versions[-1].content.startswith("v1 alpha")
    assert versions[-1].length == len(f"v1 {LONG}")
    tool: Tool = next(each for each in tools(world.memory) if each.name == "memory_history")
    assert tool.page is not None


async def test_one_version_is_read_whole_in_pieces(world: World) -> None:
    kept = await world.remember(ANA, f"v1 {LONG}")
    await world.change(ANA, kept.id, "v2")
    whole, offset = "", 0
    while offset is not None:
        (one,) = await shown(world, kept.id, version=1, offset=offset)
        assert len(one.model_dump_json()) < 10_000
        whole, offset = whole + one.content, one.next_offset
    assert whole == f"v1 {LONG}"
    (short,) = await shown(world, kept.id, version=2)
    assert (short.content, short.length, short.next_offset) == ("v2", None, None)


async def test_a_version_that_is_not_there_is_told(world: World) -> None:
    kept = await world.remember(ANA, "v1")
    with pytest.raises(MemoryFailed, match="no such version"):
        await shown(world, kept.id, version=2)


async def test_of_working_memory_the_present_version_is_told(world: World) -> None:
    kept = await call(world, "remember", content="v1", layer="working")
    await call(world, "update_memory", id=kept.id, content="v2")
    (one,) = await shown(world, kept.id)
    assert (one.version, one.content, one.by) == (2, "v2", "you")
    assert await shown(world, kept.id, version=2) == [one]
    with pytest.raises(MemoryFailed, match="working memory keeps the present one alone"):
        await shown(world, kept.id, version=1)
    metadata = await world.memory.reader.metadata(kept.id, ANA)
    assert metadata.version_history is not None
    assert [(one.version, one.created_by) for one in metadata.version_history] == [(2, ANA.person)]
