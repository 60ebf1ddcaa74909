"""A query's answers, and what concerns somebody, as streams."""

from __future__ import annotations

import asyncio

import pytest

from gateway.contract import StreamEvent
from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.model.policy import person_key
from plugins.knowledge.memory.model.requests import QueryRequest
from plugins.knowledge.memory.store.notices import Notices
from plugins.knowledge.memory.streams.events import NotificationEvent, QueryResultEvent
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, World
from tests.plugins.knowledge.memory.streams.conftest import PATIENCE, heard, now, opened, said

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


async def answers(world: World, query: str, last: str | None = None) -> list[StreamEvent] | None:
    asked = QueryRequest(query=query)
    stream = await world.memory.streams.answers(asked, ANA, last)
    return None if stream is None else [each async for each in stream]


def results(events: list[StreamEvent] | None) -> list[QueryResultEvent]:
    assert events is not None
    found = [each.data for each in events if isinstance(each.data, QueryResultEvent)]
    assert len(found) == len(events)
    return found


async def test_each_answer_is_an_event_and_the_last_says_so(world: World) -> None:
    for number in range(3):
        await world.remember(ANA, f"The bed number {number} is watered.")
    told = results(await answers(world, "watered bed"))
    assert [each.is_final for each in told] == [False, False, True]
    assert len({each.query_id for each in told}) == 1
    answer = await world.ask(ANA, "watered bed")
    shown = [each.result.entry.id for each in told if each.result is not None]
    assert shown == [each.entry.id for each in answer.results]


async def test_where_there_is_no_answer_that_is_told(world: World) -> None:
    (only,) = results(await answers(world, "quokka"))
    assert (only.result, only.is_final) == (None, True)


async def test_after_the_last_answer_there_is_nothing_more(world: World) -> None:
    await world.remember(ANA, "The bed is watered.")
    told = await answers(world, "watered bed")
    assert told is not None
    assert await answers(world, "watered bed", told[-1].id) is None


async def test_what_is_wrong_with_a_question_is_told_before_the_stream_begins(
    world: World,
) -> None:
    with pytest.raises(MemoryFailed, match="empty"):
        await answers(world, "  ")


async def test_notifications_go_to_whom_they_concern_and_updates_do_not(begun: World) -> None:
    notices = Notices(begun.host.database, begun.clock, begun.memory.entries.tell)
    start = await now(begun)
    streaming = begun.memory.streams
    of_ana = await streaming.notifications(ANA, None)
    await anext(of_ana)
    await notices.add([person_key("person:ben")], "batch_failed", {"operation_id": "b"})
    await notices.add([person_key("person:ana")], "batch_completed", {"operation_id": "a"})
    await begun.remember(CY, "The end.", "public")
    async with asyncio.timeout(PATIENCE):
        told = await anext(of_ana)
    await of_ana.aclose()
    assert isinstance(told.data, NotificationEvent)
    assert (told.data.type, told.data.data) == ("batch_completed", {"operation_id": "a"})
    again = await streaming.notifications(BEN, start)
    async with asyncio.timeout(PATIENCE):
        await anext(again)
        late = await anext(again)
    await again.aclose()
    assert isinstance(late.data, NotificationEvent)
    assert late.data.type == "batch_failed"
    assert said(await heard(await opened(begun, ANA, start), "The end.")) == []
