"""What holds when: ends, beginnings, events, and what is asked as of a day."""

from __future__ import annotations

from datetime import timedelta

import pytest

from plugins.knowledge.memory.model.requests import CreateRequest
from plugins.knowledge.memory.model.validity import Relation
from tests.plugins.knowledge.memory.conftest import ANA, NOON, World
from tests.plugins.knowledge.memory.query.test_standing import standings, write
from tests.plugins.knowledge.memory.tools.test_recall import call
from tests.plugins.knowledge.retrieval.conftest import document

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


async def test_of_what_only_the_end_is_known_it_held_before(world: World) -> None:
    for layer in ("semantic", "working"):
        ended = {"content": "The ferry was free.", "validity": {"valid_until": "2019-12-31"}}
        request = {"entry": ended, "options": {"layer": {"type": layer}}}
        await world.memory.governed.create(CreateRequest.model_validate(request), ANA)
        only = {"types": [layer]}
        before = {"filters": {"as_of": "2019-06-01"}, "layer": only}
        assert await world.found(ANA, "ferry free", **before) == ["The ferry was free."]
        after = {"filters": {"as_of": "2020-06-01"}, "layer": only}
        assert await world.found(ANA, "ferry free", **after) == []
        (result,) = (await world.ask(ANA, "ferry free", layer=only)).results
        assert result.standing is not None
        assert result.standing.text == "held until 2019-12-31"


@pytest.mark.parametrize("layer", ["semantic", "working"])
async def test_a_day_that_is_an_end_counts_whole(world: World, layer: str) -> None:
    today = f"{NOON:%Y-%m-%d}"
    entry = {
        "content": "The sauna is open.",
        "validity": {"valid_from": today, "valid_until": today},
    }
    request = {"entry": entry, "options": {"layer": {"type": layer}}}
    await world.memory.governed.create(CreateRequest.model_validate(request), ANA)
    assert standings(await world.ask(ANA, "sauna open")) == {"The sauna is open.": ""}
    for day, held in (("2026-02-28", []), (today, ["The sauna is open."]), ("2026-03-02", [])):
        assert await world.found(ANA, "sauna open", filters={"as_of": day}) == held
    world.clock.time += timedelta(minutes=30) if layer == "working" else timedelta(days=1)
    told = standings(await world.ask(ANA, "sauna open"))
    assert told == {"The sauna is open.": "" if layer == "working" else f"held until {today}"}


@pytest.mark.parametrize("layer", ["semantic", "working"])
async def test_what_is_known_of_a_coming_event_holds_already(world: World, layer: str) -> None:
    said = "The dentist appointment is at Oak Street."
    entry = {"content": said, "validity": {"event_at": f"{NOON + timedelta(days=6)}"}}
    request = {"entry": entry, "options": {"layer": {"type": layer}}}
    await world.memory.governed.create(CreateRequest.model_validate(request), ANA)
    assert standings(await world.ask(ANA, "dentist appointment")) == {said: ""}
    for day, held in (("2026-02-28", []), ("2026-03-02", [said]), ("2026-04-01", [said])):
        assert await world.found(ANA, "dentist", filters={"as_of": day}) == held


async def test_what_holds_from_a_later_day_on_replaces_nothing_yet(world: World) -> None:
    old, new = "The code of the gate is 1111.", "The code of the gate is 2222."
    await write(world, old)
    later = await write(world, new, validity={"valid_from": f"{NOON + timedelta(days=3)}"})
    assert later.near[0].seems is Relation.SEEMS_TO_REPLACE
    answer = await world.ask(ANA, "code of the gate 2222")
    assert standings(answer) == {old: "", new: "holds from 2026-03-04"}
    assert answer.results[0].entry.content == old
    world.clock.time += timedelta(days=4)
    answer = await world.ask(ANA, "code of the gate 1111")
    assert list(standings(answer)) == [new, old]
    assert standings(answer)[old] == f"seems replaced by {later.entry.id}"


ON_CALL = "Who is on call for the printers?"


@pytest.mark.parametrize(
    ("asked", "old", "new"),
    [
        (
            "Meetings are on Mondays",
            "Meetings are on Mondays.",
            "Meetings are no longer on Mondays.",
        ),
        (
            ON_CALL,
            "Igor is on call for the printers.",
            "Bea is on call for the printers this month.",
        ),
    ],
)
async def test_as_of_now_the_order_is_that_of_the_question_without_it(
    world: World, asked: str, old: str, new: str
) -> None:
    await write(world, old)
    await write(world, new)
    assert await world.found(ANA, asked) == [new, old]
    for day in ("2026-03-01", "2027-03-01"):
        assert await world.found(ANA, asked, filters={"as_of": day}) == [new, old]


async def test_as_of_an_earlier_day_what_was_said_later_is_not_first(world: World) -> None:
    old = "Meetings are on Mondays."
    await write(world, old)
    later = {"valid_from": f"{NOON + timedelta(days=9)}"}
    await write(world, "Meetings are no longer on Mondays.", validity=later)
    assert await world.found(ANA, old, filters={"as_of": "2026-03-05"}) == [old]


async def test_nothing_is_said_to_have_ended_before_it_began(world: World) -> None:
    tax = (await write(world, "The tax is 5 euros.")).entry
    related, earlier = [{"kind": "supersedes", "target": tax.id}], {"valid_until": "2020-01-01"}
    new = await write(world, "It is 4 euros.", validity=earlier, relations=related)
    answer = await world.ask(ANA, tax.content)
    standing = next(each.standing for each in answer.results if each.entry.id == tax.id)
    assert standing is not None
    assert (standing.holds, standing.text) == (False, f"superseded by {new.entry.id}")


async def test_a_note_that_held_before_it_was_written_is_found_as_of_then(world: World) -> None:
    await world.base.put(
        document("practice/gate", "The gate opens at eight.", valid_from="2020-01-01"),
        document("practice/door", "The gate opened at nine.", valid_until="2019-12-31"),
    )
    for day, held in (("2019-06-01", ["door"]), ("2021-06-01", ["gate"])):
        answer = await world.ask(ANA, "gate opens", filters={"as_of": day})
        assert [each.entry.id for each in answer.results] == [
            f"note:practice/{each}" for each in held
        ]


async def test_what_held_for_a_time_alone_seems_to_replace_nothing_after(world: World) -> None:
    usual = (await write(world, "The sauna opens at 10.", created_at="2026-01-10T09:00:00Z")).entry
    times = {"valid_from": "2026-02-01", "valid_until": "2026-02-20"}
    for_now = await write(world, "The sauna opens at 14.", validity=times)
    assert [each.id for each in for_now.near] == [usual.id]
    answer = await world.ask(ANA, "when does the sauna open")
    assert standings(answer)[usual.content] == ""
    assert answer.results[0].entry.id == usual.id
    asked = {"filters": {"as_of": "2026-02-10"}}
    assert (await world.found(ANA, "when does the sauna open", **asked))[0] == for_now.entry.content


@pytest.mark.parametrize(
    ("narrowed", "found"),
    [
        ({"until": "2025-03-31"}, {"Ben: The old gate is green."}),
        ({"since": "2025-03-01", "until": "2025-03-31"}, {"Ben: The old gate is green."}),
        ({"since": "2025-04-01", "until": "2025-04-30"}, set()),
        ({"since": "2026-01-01"}, {"Ben: The old gate is green.", "The gate is blue."}),
    ],
)
async def test_what_was_said_then_counts_whenever_it_was_kept(
    world: World, narrowed: dict[str, str], found: set[str]
) -> None:
    said = {"speaker": "Ben", "text": "The old gate is green.", "at": "2025-03-04"}
    await call(world, "remember_conversation", name="old", turns=[said])
    await write(world, "The gate is blue.")
    answer = await call(world, "query_memory", query="gate", **narrowed)
    assert {each.content for each in answer.results} == found
    assert answer.total == len(found)


async def test_over_rest_what_was_created_then_counts_alone(world: World) -> None:
    await write(world, "The gate is green.", validity={"event_at": "2025-03-04"})
    until = {"created_before": "2025-03-31"}
    assert await world.found(ANA, "gate", filters=until) == []
    assert await world.found(ANA, "gate", filters={**until, "or_happened": True}) == [
        "The gate is green."
    ]
