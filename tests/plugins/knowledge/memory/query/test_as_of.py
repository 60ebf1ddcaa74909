"""What is told as of a moment, of what was corrected or written anew since."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from plugins.knowledge.memory.model.entry import KnowledgeEntry
from tests.plugins.knowledge.memory.conftest import ANA, BEN, World
from tests.plugins.knowledge.memory.query.test_standing import SHARED, relate, standings, write

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


async def said(world: World, day: str, content: str, **relations: KnowledgeEntry) -> KnowledgeEntry:
    """Ana says something on a day, and how it goes together with what she said before."""
    related = [{"kind": kind, "target": each.id} for kind, each in relations.items()]
    at = f"{day}T09:00:00Z"
    return (await write(world, content, created_at=at, relations=related)).entry


async def held(world: World, day: str, query: str, **request: Any) -> list[str]:
    """What is found as of a day."""
    return await world.found(ANA, query, filters={"as_of": day}, **request)


async def test_a_correction_holds_since_what_it_corrects_does(world: World) -> None:
    wrong = await said(world, "2026-01-01", "The tram to the allotment is line 6.")
    right = await said(world, "2026-02-01", "The tram to the allotment is line 8.", corrects=wrong)
    assert await held(world, "2026-01-15", "tram to the allotment") == [right.content]
    assert await held(world, "2025-12-31", "tram to the allotment") == []
    last = await said(world, "2026-02-20", "It is line 9 there.", corrects=right)
    assert await held(world, "2026-01-15", "tram to the allotment") == [last.content]


async def test_a_correction_of_a_successor_holds_since_that_does(world: World) -> None:
    first = await said(world, "2025-03-01", "The annual rent is 400 euros.")
    wrong = await said(world, "2025-05-01", "The annual rent is 450 euros.", supersedes=first)
    right = await said(world, "2025-07-01", "The annual rent is 470 euros.", corrects=wrong)
    for day, told in (("2025-04-01", first), ("2025-06-01", right), ("2025-08-01", right)):
        assert await held(world, day, "annual rent euros") == [told.content]


async def test_a_correction_that_begins_later_takes_nothing_away_before(world: World) -> None:
    old = await said(world, "2026-02-01", "The orchard pump needs 12 volts.")
    later = {"valid_from": "2027-02-01"}
    new = (await write(world, "The orchard pump needs 24 volts.", validity=later)).entry
    await relate(world, new, "corrects", old)
    assert standings(await world.ask(ANA, "orchard pump volts"))[old.content] == ""
    assert await held(world, "2026-03-01", "orchard pump volts") == [old.content]
    assert await held(world, "2027-03-01", "orchard pump volts") == [new.content]


async def test_what_is_known_to_be_wrong_never_held(world: World) -> None:
    old = await said(world, "2025-01-01", "The orchard pump needs 12 volts.")
    begun = {"valid_from": "2025-06-01"}
    new = (await write(world, "The orchard pump needs 24 volts.", validity=begun)).entry
    await relate(world, new, "corrects", old)
    assert await held(world, "2025-03-01", "orchard pump volts") == []
    assert await held(world, "2025-07-01", "orchard pump volts") == [new.content]


async def test_words_of_a_later_time_are_marked_as_of_an_earlier_one(world: World) -> None:
    fee = await said(world, "2026-01-10", "The membership fee is 30 euros.")
    same = await said(world, "2026-01-10", "The membership card is green.")
    await world.change(ANA, fee.id, "The membership fee is 45 euros.")
    await world.change(ANA, same.id, same.content, metadata={"tags": ["card"]})
    asked = {"filters": {"as_of": "2026-02-01"}}
    told = standings(await world.ask(ANA, "membership fee card", **asked))
    mark = "worded so since 2026-03-01, memory_history has what it said on 2026-02-01"
    assert told == {"The membership fee is 45 euros.": mark, same.content: ""}
    now = standings(await world.ask(ANA, "membership fee card"))
    assert set(now.values()) == {""}


async def test_a_mark_of_later_words_tells_nothing_of_versions_of_others(world: World) -> None:
    fee = await world.remember(ANA, "The membership fee is 30 euros.")
    world.clock.time += timedelta(days=10)
    await world.open(ANA, fee.id, "The membership fee is 45 euros.", SHARED)
    asked = {"filters": {"as_of": "2026-03-05"}}
    told = {who: standings(await world.ask(who, "membership fee", **asked)) for who in (ANA, BEN)}
    mark = "worded so since 2026-03-11"
    assert told[BEN] == {"The membership fee is 45 euros.": mark}
    (own,) = told[ANA].values()
    assert own == f"{mark}, memory_history has what it said on 2026-03-05"
