"""Tools take what an agent sends, and say what is wrong with it."""

from typing import Any

import pytest

from gateway.contract import Tool
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.tools.entries import tools
from tests.plugins.knowledge.memory.conftest import ANA, BEN, World

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


async def call(world: World, name: str, who: Any = ANA, **args: Any) -> Any:
    tool: Tool = next(each for each in tools(world.memory) if each.name == name)
    assert tool.args is not None
    return await tool.run(tool.args.model_validate(args), who)


async def test_a_fact_is_kept_found_changed_and_forgotten(world: World) -> None:
    kept = await call(world, "remember", content="The gate opens at nine.", tags=["gate"])
    assert kept.status == "created"
    answer = await call(world, "query_memory", query="when does the gate open")
    assert [each.content for each in answer.results] == ["The gate opens at nine."]
    assert (await call(world, "query_memory", BEN, query="gate")).results == []
    changed = await call(world, "update_memory", id=kept.id, content="At ten.", version=1)
    assert changed.version == 2
    past = await call(world, "memory_history", id=kept.id)
    assert [each.fields["content"] for each in past.items] == ["At ten.", "The gate opens at nine."]
    assert (await call(world, "forget", id=kept.id)).forgotten
    assert (await call(world, "query_memory", query="at ten")).results == []


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("remember", {"content": "a\0b"}, "NUL"),
        ("remember", {"content": "a", "tags": ["\0"]}, "NUL"),
        ("query_memory", {"query": "a\0b"}, "NUL"),
        ("query_memory", {"query": "gate", "agent_id": "\0"}, "NUL"),
        ("query_memory", {"query": "gate", "limit": 500}, r"\. limit: "),
        ("remember", {"content": "a", "written_at": "2039-01-01"}, "written_at"),
        ("query_memory", {"query": "gate", "tags": ["a"] * 101}, r"\. tags: "),
        (
            "remember",
            {"content": "a", "valid_from": "2026-03-01", "valid_until": "2026-02-01"},
            r"^Invalid arguments\. the arguments: valid_until has to be later than valid_from$",
        ),
    ],
)
async def test_what_does_not_fit_is_told_and_no_fault_of_the_portals(
    world: World, tool: str, arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(MemoryFailed, match=told) as refused:
        await call(world, tool, **arguments)
    assert refused.value.number is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("tool", ["update_memory", "memory_history", "forget"])
@pytest.mark.parametrize("id", ["mem_unknown", "a\0b", "\ud800"])
async def test_an_id_that_nobody_has_is_refused(world: World, tool: str, id: str) -> None:
    with pytest.raises(MemoryFailed) as refused:
        await call(world, tool, id=id)
    assert refused.value.number in {ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST}


async def test_a_fact_is_ended_and_its_dates_are_corrected_and_taken_back(world: World) -> None:
    kept = await call(world, "remember", content="Rita leads the shop.", valid_from="2025-01-01")
    ended = await call(world, "update_memory", id=kept.id, valid_until="2026-02-27")
    assert ended.version == 2
    shown = await call(world, "get_memory", id=kept.id)
    assert shown.standing is not None
    assert not shown.standing.holds
    assert (str(shown.valid_from)[:10], shown.content) == ("2025-01-01", "Rita leads the shop.")
    times = {"valid_from": "2025-03-01", "event_at": "2024-12-24"}
    await call(world, "update_memory", id=kept.id, without=["valid_until"], **times)
    shown = await call(world, "get_memory", id=kept.id)
    assert (shown.standing, shown.valid_until) == (None, None)
    assert (str(shown.valid_from)[:10], str(shown.event_at)[:10]) == ("2025-03-01", "2024-12-24")
    await call(world, "update_memory", id=kept.id, content="Rita leads the workshop.")
    assert (await call(world, "get_memory", id=kept.id)).valid_from == shown.valid_from


async def test_a_fact_does_not_end_before_it_begins(world: World) -> None:
    kept = await call(world, "remember", content="Rita leads the shop.", valid_from="2025-01-01")
    with pytest.raises(MemoryFailed, match="valid_until has to be later than valid_from"):
        await call(world, "update_memory", id=kept.id, valid_until="2024-01-01")
