"""What happens to entries is told to those who may read them, from now on or from an event on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import pytest

from gateway.contract import ANONYMOUS, Caller, StreamEvent, Tier
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import DeleteRequest, UpdateRequest
from plugins.knowledge.memory.rights.roles import Roles
from plugins.knowledge.memory.streams import hub
from plugins.knowledge.memory.streams.events import ResetEvent
from plugins.knowledge.memory.upkeep.purge import EVENT_RETENTION
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, DEE, Opener, World
from tests.plugins.knowledge.memory.streams.conftest import (
    PATIENCE,
    content,
    heard,
    held,
    now,
    opened,
    said,
)
from tests.servers.streaming import until

pytestmark = pytest.mark.anyio
GARDEN = {"policy": "shared", "allowed_teams": ["garden"]}


async def end(world: World) -> str:
    """Say that this is all, to everyone."""
    await world.remember(CY, "The end.", "public")
    return "The end."


async def delete(world: World, who: Caller, id: str, *, hard: bool = False) -> None:
    request = {"id": id, "options": {"hard_delete": hard}}
    await world.memory.entries.delete(DeleteRequest.model_validate(request), who)


async def share(world: World, who: Caller, id: str, policy: Any) -> None:
    """Change who reads an entry, and nothing else."""
    text = (await world.memory.reader.entry(id, who)).content
    request = {"entry": {"content": text}, "options": {"access_policy": policy}}
    await world.keep(id, UpdateRequest.model_validate(request), who)


async def test_created_changed_and_removed_is_told_with_the_entry(begun: World) -> None:
    stream = await opened(begun, ANA)
    first = await anext(stream)
    assert (first.id, first.data) == (await now(begun), None)
    entry = await begun.remember(ANA, "One.", "private")
    told = [await anext(stream)]
    await begun.change(ANA, entry.id, "Two.")
    told.append(await anext(stream))
    await delete(begun, ANA, entry.id)
    told += await heard(stream, await end(begun))
    assert said(told) == [("created", "One."), ("updated", "Two."), ("deleted", "Two.")]
    numbers = [int(each.id or 0) for each in told]
    assert numbers == sorted(set(numbers))


async def test_a_stream_goes_on_from_an_event_whoever_wrote_meanwhile(begun: World) -> None:
    stream = await opened(begun, ANA)
    await begun.remember(CY, "One.", "organization")
    first = [await anext(stream) for _ in range(2)][-1]
    await stream.aclose()
    await begun.remember(CY, "Two.", "organization")
    await begun.remember(DEE, "Not for her.", "private")
    told = await heard(await opened(begun, ANA, first.id), await end(begun))
    assert said(told) == [("created", "Two.")]


async def test_what_was_forgotten_since_is_not_told_of_any_more(begun: World) -> None:
    start = await now(begun)
    soft = await begun.remember(CY, "A slip of the tongue.", "public")
    hard = await begun.remember(CY, "A password.", "public")
    await begun.change(CY, hard.id, "No password.")
    await delete(begun, CY, soft.id)
    await delete(begun, CY, hard.id, hard=True)
    told = await heard(await opened(begun, DEE, start), await end(begun))
    assert said(told) == [("deleted", "A slip of the tongue."), ("deleted", None)]


async def test_who_may_read_an_entry_no_longer_hears_only_that_it_is_gone(begun: World) -> None:
    entry = await begun.remember(ANA, "Ours.", "organization")
    streams = {who.name: await opened(begun, who) for who in (ANA, BEN, CY, DEE)}
    for each in streams.values():
        await anext(each)
    await share(begun, ANA, entry.id, GARDEN)
    await begun.change(ANA, entry.id, "The garden's.")
    done = await end(begun)
    told = {name: said(await heard(each, done)) for name, each in streams.items()}
    assert told == {
        "Ana": [("updated", "Ours."), ("updated", "The garden's.")],  # in the garden, and a member
        "Ben": [("updated", "Ours."), ("updated", "The garden's.")],  # in the garden
        "Cy": [("deleted", None)],
        "Dee": [],
    }


async def test_what_was_written_for_fewer_stays_theirs_when_it_is_opened(begun: World) -> None:
    start = await now(begun)
    entry = await begun.remember(ANA, "A draft, with a slip.", "private", layer="organization")
    await begun.change(ANA, entry.id, "A text.")
    await share(begun, ANA, entry.id, {"policy": "organization"})
    told = await heard(await opened(begun, CY, start), await end(begun))
    assert said(told) == [("updated", "A text.")]
    await begun.memory.personal_data.erase(ANA.person or "")
    told = await heard(await opened(begun, CY, start), await end(begun))
    assert "slip" not in str([each.message for each in told])


async def test_filters_leave_out_what_is_not_asked_for(
    begun: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MAX_SKIPPED_EVENTS", 1)
    start = await now(begun)
    bed = await begun.remember(ANA, "A bed.", "public", "semantic", tags=["Garden"], author="Ana")
    await begun.remember(ANA, "A pot.", "public", "procedural", tags=["kitchen"])
    await begun.remember(ANA, "A spade.", "private", "session", agent="digger")
    await begun.change(ANA, bed.id, "A raised bed.", metadata={"tags": ["garden"]})
    await delete(begun, ANA, bed.id)
    await begun.remember(CY, "The end.", "public", "semantic", tags=["garden"], author="Ana")

    async def told(**filters: Any) -> list[str | None]:
        events = await _all(begun, await opened(begun, ANA, start, **filters))
        return [content(each) for each in events if content(each) != "The end."]

    assert await told(tags=["GARDEN"]) == ["A raised bed."]
    assert await told(layers=["procedural", "session"]) == ["A pot.", "A spade."]
    assert await told(operations=["deleted"]) == ["A raised bed."]
    assert await told(agent_id="digger") == ["A spade."]
    assert await told(access_policy="private") == ["A spade."]
    assert await told(author="Ana") == []
    assert await told(source_type="user_upload") == []
    assert len(await told(source_type="agent_generated")) == 3


async def _all(world: World, stream: AsyncGenerator[StreamEvent, None]) -> list[StreamEvent]:
    """What is told of all that has happened; a number alone says that nothing more is."""
    told, last = list[StreamEvent](), int(await now(world))
    async with asyncio.timeout(PATIENCE), aclosing(stream):
        await anext(stream)
        async for event in stream:
            if event.data is not None:
                told.append(event)
            if int(event.id or 0) >= last:
                return told
    raise AssertionError("The stream has ended.")


async def test_a_deletion_without_content_matches_every_filter_on_content(
    begun: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MAX_SKIPPED_EVENTS", 1)
    start = await now(begun)
    entry = await begun.remember(ANA, "A bed.", "organization", tags=["garden"])
    await share(begun, ANA, entry.id, {"policy": "private"})
    told = await _all(begun, await opened(begun, CY, start, tags=["kitchen"]))
    assert said(told) == [("deleted", None)]


@pytest.mark.parametrize("bound", ["EVENT_CACHE_SIZE", "EVENT_CACHE_CHARACTERS"])
async def test_a_stream_that_falls_behind_what_is_kept_here_misses_nothing(
    begun: World, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, bound, 3)
    monkeypatch.setattr(hub, "PAGE_SIZE", 2)
    slow, quick = await opened(begun, DEE), await opened(begun, DEE)
    await anext(slow), await anext(quick)
    texts = [f"Number {number}." for number in range(12)]
    first = asyncio.ensure_future(anext(slow))
    for text in texts:
        await begun.remember(CY, text, "public")
    done = await end(begun)
    assert [text for _, text in said(await heard(quick, done))] == texts
    told = [await first, *(await heard(slow, done))]
    assert [text for _, text in said(told)] == texts


async def test_a_stream_with_nothing_to_tell_says_how_far_it_has_come(
    begun: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MAX_SKIPPED_EVENTS", 3)
    stream = await opened(begun, DEE)
    start = await anext(stream)
    for number in range(4):
        await begun.remember(ANA, f"Hers {number}.")
    async with asyncio.timeout(PATIENCE):
        passed = await anext(stream)
    await stream.aclose()
    assert passed.data is None
    assert int(passed.id or 0) >= int(start.id or 0) + 3


async def test_what_is_not_kept_any_more_is_a_reset(begun: World) -> None:
    start = await now(begun)
    await begun.remember(CY, "Lost.", "public")
    begun.clock.time += EVENT_RETENTION + timedelta(days=1)
    for since in (start, await now(begun)):
        await begun.memory.upkeep.parts["events"]()
        stream = await opened(begun, DEE, since)
        reset = await anext(stream)
        await stream.aclose()
        assert (isinstance(reset.data, ResetEvent), reset.id) == (since == start, await now(begun))
    stream = await opened(begun, DEE, start)
    assert isinstance((await anext(stream)).data, ResetEvent)
    assert said(await heard(stream, await end(begun))) == []
    beyond = await opened(begun, DEE, str(int(await now(begun)) + 1))
    assert isinstance((await anext(beyond)).data, ResetEvent)
    await beyond.aclose()


@pytest.mark.parametrize("last", ["x", "", "-1", "1.5", "9" * 19, "\u0663", "query_1:2"])
async def test_an_id_of_something_else_is_an_error(begun: World, last: str) -> None:
    with pytest.raises(MemoryFailed, match="last_event_id") as refused:
        await opened(begun, ANA, last)
    assert refused.value.number is ErrorCode.INVALID_REQUEST


async def test_who_may_not_read_memory_follows_nothing(open_world: Opener) -> None:
    world = await open_world(None, Roles(read=("members",)))
    for who in (DEE, ANONYMOUS):
        for opening in (
            opened(world, who),
            world.memory.streams.notifications(who, None),
        ):
            with pytest.raises(MemoryFailed):
                await opening


async def test_a_credential_for_the_open_tier_hears_nothing(begun: World) -> None:
    limited = Caller("person:ana", Tier.OPEN, groups=frozenset({"garden"}))
    with pytest.raises(MemoryFailed):
        await opened(begun, limited)


async def test_nobody_follows_nothing_is_read(begun: World, monkeypatch: Any) -> None:
    monkeypatch.setattr(hub, "POLL_INTERVAL_S", 0.01)
    reads = begun.memory.streams.hub
    streams = [await opened(begun, who) for who in (ANA, BEN)]
    assert reads._reading == []
    pending = []
    for each in streams:
        await anext(each)
        pending.append(asyncio.ensure_future(anext(each)))
    await until(lambda: reads._followers == 2)
    await begun.remember(CY, "One.", "public")
    await asyncio.gather(*pending)
    assert len(reads._reading) == 2
    assert len(reads._kept) == 1
    for each in streams:
        await each.aclose()
    assert (reads._reading, reads._kept) == ([], [])


async def test_all_are_told_the_same_event_written_out_once(begun: World) -> None:
    streams = [await opened(begun, who) for who in (ANA, BEN)]
    for each in streams:
        await anext(each)
    pending = [asyncio.ensure_future(anext(each)) for each in streams]
    await until(lambda: begun.memory.streams.hub._followers == 2)
    await begun.remember(CY, "One.", "public")
    one, other = await asyncio.gather(*pending)
    assert one is other
    for each in streams:
        await each.aclose()


async def test_an_entry_held_as_told_is_the_entry_as_it_is(begun: World) -> None:
    stream = await opened(begun, DEE)
    entry = await begun.remember(ANA, "Ours.", "public")
    await share(begun, ANA, entry.id, GARDEN)
    await share(begun, ANA, entry.id, {"policy": "public"})
    assert held(await heard(stream, await end(begun))) == {entry.id: "Ours."}
