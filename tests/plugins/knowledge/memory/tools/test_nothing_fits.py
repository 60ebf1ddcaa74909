"""Where nothing fits, an answer says what to do: ask the archive, or another author."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.retrieval.foreign_questions import NOTE
from tests.plugins.knowledge.memory.conftest import ANA, BEN, DEE, Opener, World
from tests.plugins.knowledge.memory.tools.test_tools import call
from tests.plugins.knowledge.retrieval.test_foreign_questions import ENGLISH, HalfwayNear

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
KEY = "The fuse box key is under the blue pot."
ARCHIVED = '1 in the archive fit: ask with layers=["archival"].'
SHARED = {"policy": "shared", "allowed_teams": ["garden"]}


async def archive(world: World, content: str = KEY) -> str:
    """Keep something that upkeep has put into the archive; its id."""
    kept = await call(world, "remember", content=content, importance=0.1)
    world.clock.time += timedelta(days=95)
    await world.memory.upkeep.once()
    shown = await call(world, "get_memory", id=kept.id)
    assert shown.layer == "archival"
    return str(kept.id)


async def test_what_fits_in_the_archive_is_told_and_not_shown(world: World) -> None:
    id = await archive(world)
    answer = await call(world, "query_memory", query=KEY)
    assert answer.results == []
    assert ARCHIVED in (answer.note or "")
    (found,) = (await call(world, "query_memory", query=KEY, layers=["archival"])).results
    assert found.id == id
    other = await call(world, "query_memory", query="when do the bees swarm", layers=["semantic"])
    assert "archive" not in (other.note or "")
    assert "archive" not in ((await call(world, "query_memory", BEN, query=KEY)).note or "")


async def test_notes_that_are_not_indexed_yet_are_told(world: World) -> None:
    part = "The notes are being read for the first time. Ask again in a minute."
    world.base.knowledge.set_unfinished(lambda: part)
    kept = await call(world, "remember", content=KEY)
    assert part in (await call(world, "query_memory", query="when do the bees swarm")).note
    own = await call(world, "query_memory", query=KEY, layers=["semantic", "episodic"])
    assert part not in (own.note or "")
    for name, asked in (
        ("get_memory", {"id": "note:practice/bees"}),
        ("verify_memory", {"id": kept.id, "against": "note:practice/bees"}),
    ):
        with pytest.raises(MemoryFailed) as refused:
            await call(world, name, **asked)
        assert refused.value.code == "not_found"
        assert refused.value.message.endswith(part)


async def test_without_a_model_the_archive_is_told_as_well(open_world: Opener) -> None:
    world = await open_world(None)
    await archive(world)
    assert ARCHIVED in (await call(world, "query_memory", query=KEY)).note


@pytest.mark.parametrize(
    ("content", "why"),
    [(KEY, "it says the same"), (KEY.replace("blue", "red"), "the same thing has another value")],
)
async def test_what_is_written_is_compared_with_the_archive(
    world: World, content: str, why: str
) -> None:
    id = await archive(world)
    again = await call(world, "remember", content=content)
    assert [(each.id, each.layer) for each in again.near] == [(id, "archival")]
    assert again.near[0].why in (why, "")


async def refused(world: World, tool: str, who: Any = ANA, **args: Any) -> str:
    with pytest.raises(MemoryFailed) as failed:
        await call(world, tool, who, **args)
    assert failed.value.number is ErrorCode.INVALID_REQUEST
    return str(failed.value)


@pytest.mark.parametrize(
    ("tool", "args"), [("query_memory", {"query": "parking"}), ("list_memory", {})]
)
async def test_an_author_of_whom_there_is_nothing_is_refused(
    world: World, tool: str, args: dict[str, Any]
) -> None:
    await world.remember(ANA, "Parking is free on Sundays.", SHARED)
    await world.remember(DEE, "Parking is for members.")
    told = await refused(world, tool, BEN, author="Anna", **args)
    assert "by 'Anna'. Did you mean Ana?" in told
    # Whose entries one may not read is told from nobody.
    assert "Did you mean" not in await refused(world, tool, BEN, author="Dee", **args)
    assert "Did you mean" not in await refused(world, tool, BEN, author="Deee", **args)


async def test_an_author_who_is_known_and_says_nothing_of_it_is_no_error(world: World) -> None:
    await world.remember(ANA, "Parking is free on Sundays.", SHARED)
    answer = await call(world, "query_memory", BEN, query="when do the bees swarm", author="Ana")
    assert answer.results == []
    assert (await call(world, "list_memory", BEN, author="ana", tags=["x"])).total == 0


async def test_whom_a_conversation_names_is_suggested_as_well(world: World) -> None:
    await world.remember(ANA, "Noor: I water the beds.", author="Noor")
    assert "Did you mean Noor?" in await refused(world, "query_memory", query="beds", author="Nor")
    nobody = replace(DEE, person="person:eve")
    assert "Noor" not in await refused(world, "query_memory", nobody, query="beds", author="Nor")


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Wie repariere ich ein Fahrrad?", []),
        ("Wie lautet der Code?", ["Der Torcode ist jetzt 4711."]),
        ("Where is the bicycle?", ["Der Torcode ist jetzt 4711.", "Das Fest ist im Juli."]),
    ],
)
async def test_in_a_language_that_the_model_does_not_know_a_word_in_common_is_wanted(
    open_world: Opener, question: str, answers: list[str]
) -> None:
    """To this model everything is near; by itself that says nothing there."""
    world = await open_world(HalfwayNear(ENGLISH))
    for content in ("Der Torcode ist jetzt 4711.", "Das Fest ist im Juli."):
        await call(world, "remember", content=content)
    answer = await call(world, "query_memory", query=question)
    assert sorted(one.content for one in answer.results) == sorted(answers)
    assert len(answer.results) + len(answer.nearest) == 2
    assert (NOTE in (answer.note or "")) is question.startswith("Wie")


async def test_a_first_name_is_told_whom_it_may_be_of_and_me_is_who_asks(world: World) -> None:
    await world.remember(ANA, "Ruth Adler: I water the beds.", author="Ruth Adler")
    told = await refused(world, "query_memory", query="beds", author="ruth")
    assert "Did you mean Ruth Adler?" in told
    mine = await call(world, "list_memory", author="me")
    assert mine.total == 1


async def test_a_time_that_ends_before_it_begins_is_refused(world: World) -> None:
    said = "until lies before since: nothing was written then"
    times = {"since": "2026-03-05", "until": "2026-03-01"}
    assert said in await refused(world, "query_memory", query="beds", **times)
    with pytest.raises(ValidationError, match=said):
        await call(world, "list_memory", **times)
    with pytest.raises(ValidationError, match="write a day, such as 2026-03-01, or a moment"):
        await call(world, "query_memory", query="beds", since="last month")
    assert "query: must have at least 1 character" in await refused(world, "query_memory", query="")
