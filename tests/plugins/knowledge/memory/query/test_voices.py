"""A question that names somebody is answered first with what they say."""

import pytest

from plugins.knowledge.memory.model.labels import labels, voices
from tests.plugins.knowledge.memory.conftest import ANA, BEN, World

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


async def test_what_somebody_says_of_it_goes_before_what_others_say(world: World) -> None:
    await world.remember(ANA, "Melanie: I play the cello, Caroline.", layer="episodic")
    theirs = await world.remember(ANA, "Caroline: The oboe is what I play now.", layer="episodic")
    await world.remember(ANA, "Caroline: Good morning, did you sleep?", layer="episodic")
    found = await world.found(ANA, "Which instrument does Caroline play?")
    assert found[0] == theirs.content


async def test_two_turns_answer_a_question_for_two_things(world: World) -> None:
    said = [
        await world.remember(ANA, text, layer="episodic")
        for text in (
            "Tomas: I work as a carpenter in a boat yard.",
            "Tomas: Rowing keeps me sane, what sport.",
        )
    ]
    for filler in range(20):
        await world.remember(ANA, f"Tomas: Good morning number {filler}!", layer="episodic")
        await world.remember(ANA, f"Priya: I work as a guide, sport {filler}.", layer="episodic")
    found = await world.found(ANA, "What does Tomas work as? And what sport does he do?")
    assert {each.content for each in said} <= set(found[:4])


async def test_others_answer_where_who_is_named_says_nothing_of_it(world: World) -> None:
    await world.remember(ANA, "The oboe of Caroline is in the cellar.")
    await world.remember(ANA, "Caroline: Good morning!", layer="episodic")
    found = await world.found(ANA, "Where is the oboe of Caroline?")
    assert "The oboe of Caroline is in the cellar." in found


async def test_nobody_finds_by_a_name_what_they_may_not_read(world: World) -> None:
    await world.remember(ANA, "Caroline: I play the oboe.", layer="episodic")
    assert await world.found(BEN, "What does Caroline play?") == []


async def test_an_entry_is_held_by_each_name_of_who_says_it(world: World) -> None:
    turn = await world.remember(ANA, "[Monday] Noa Levi: I play.", author="Ana")
    own = await world.remember(ANA, "I sing.", author="Ana")
    records = await world.memory.entries.reads.read(
        [turn.id, own.id], frozenset({"person:person:ana"})
    )
    held = {
        id: {each for each in labels(one) if each.startswith("voice:")}
        for id, one in records.items()
    }
    assert held == {turn.id: voices("noa LEVI"), own.id: voices("Ana")}


@pytest.mark.parametrize("name", ["kim_w", "@kim"])
async def test_who_is_called_as_in_a_chat_says_what_they_say(world: World, name: str) -> None:
    told = await world.remember(ANA, f"{name}: The oboe is what I play.", layer="episodic")
    await world.remember(ANA, f"Noa: I play nothing, {name}.", layer="episodic")
    records = await world.memory.entries.reads.read([told.id], frozenset({"person:person:ana"}))
    assert voices(name) <= labels(records[told.id])
    assert (await world.found(ANA, f"What does {name} play?"))[0] == told.content


@pytest.mark.parametrize("label", ["Update", "Correction", "Note", "PS"])
async def test_what_is_announced_is_said_by_nobody_of_that_name(world: World, label: str) -> None:
    told = await world.remember(ANA, f"{label}: The oboe is in the cellar.", layer="episodic")
    other = await world.remember(ANA, f"{label}: The cello is sold.", layer="episodic")
    records = await world.memory.entries.reads.read(
        [told.id, other.id], frozenset({"person:person:ana"})
    )
    assert not [each for one in records.values() for each in labels(one) if each in voices(label)]
    assert [one.follows for one in records.values()] == [None, None]


async def test_names_count_in_full_where_an_entry_is_said_by_nobody(world: World) -> None:
    entry = await world.remember(ANA, "Oskar trains judo.")
    turn = await world.remember(ANA, "Lena: Oskar trains judo with me.")
    asked = [
        await world.ask(ANA, "What does Oskar train?", mode=mode) for mode in ("semantic", "hybrid")
    ]
    near, weighed = ({one.entry.id: one.distance for one in each.results} for each in asked)
    assert near[entry.id] == weighed[entry.id]
    assert near[turn.id] != weighed[turn.id]
