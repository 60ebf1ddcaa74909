"""A conversation is kept with its turns, and with what it says, in the words that were said."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.extraction import Kind, RuleExtractor, Turn
from tests.plugins.knowledge.memory.conftest import ANA, BEN, World
from tests.plugins.knowledge.memory.upkeep.conftest import upkeep

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
AT = datetime(2026, 2, 1, 18, tzinfo=UTC)
TALK = [
    Turn("Rosa", "Hello! How was your week?", AT),
    Turn("Jonas", "Long. I prefer short meetings. Maybe we should meet on Mondays.", AT),
    Turn("Rosa", "We decided to plant beans in bed four. The key of the shed is in box 12.", AT),
]


async def test_decisions_preferences_and_facts_are_found_with_who_and_when(world: World) -> None:
    kept = await world.memory.conversations(TALK, ANA, "talk-1")
    assert [(each.kind, each.who, each.what) for each in kept.found] == [
        (Kind.PREFERENCE, "Jonas", "I prefer short meetings."),
        (Kind.DECISION, "Rosa", "We decided to plant beans in bed four."),
        (Kind.FACT, "Rosa", "The key of the shed is in box 12."),
    ]
    assert [each.turn for each in kept.found] == [kept.turns[1], kept.turns[2], kept.turns[2]]
    answer = (await world.ask(ANA, "beans bed", layer={"types": ["semantic"]})).results[0]
    assert answer.entry.validity is not None
    assert answer.entry.validity.event_at == AT
    assert answer.entry.metadata.custom == {"from": kept.turns[2]}
    assert answer.entry.metadata.tags == ("decision",)


async def test_a_conversation_is_kept_for_who_sent_it_alone(world: World) -> None:
    await world.memory.conversations(TALK, ANA, "talk-1")
    assert await world.found(ANA, "beans") != []
    assert await world.found(BEN, "beans") == []


async def test_what_a_conversation_changes_is_named(world: World) -> None:
    await world.memory.conversations([Turn("Ana", "The gate code is 1111.")], ANA, "one")
    kept = await world.memory.conversations([Turn("Ana", "The gate code is 2222.")], ANA, "two")
    (near,) = kept.found[0].near
    assert near.content == "Ana: The gate code is 1111."
    assert near.seems == "seems_to_replace"


@pytest.mark.parametrize("at", [None, AT])
async def test_what_is_said_first_does_not_seem_to_replace_what_follows_in_the_same_talk(
    world: World, at: datetime | None
) -> None:
    said = [Turn("Ana", f"The gate code is {code}.", at) for code in ("1111", "2222")]
    first, second = (await world.memory.conversations(said, ANA, "one")).found
    assert [(each.seems, each.later) for each in first.near] == [(None, True)]
    assert [(each.id, each.seems) for each in second.near] == [(first.id, "seems_to_replace")]
    (pair,) = (await world.memory.review(ANA)).pairs
    assert (pair.newer.id, pair.older.id) == (second.id, first.id)
    assert (await world.found(ANA, "What is the gate code?"))[0] == "Ana: The gate code is 2222."


async def test_the_same_words_behind_another_question_are_another_turn(world: World) -> None:
    talk = [
        Turn("Ana", "Did you ship it?"),
        Turn("Bo", "Yes."),
        Turn("Ana", "Did the tests pass?"),
        Turn("Bo", "Yes."),
    ]
    kept = await world.memory.conversations(talk, ANA, "talk-1")
    assert len(set(kept.turns)) == len(talk)
    assert "replaced" not in await upkeep(world, minutes=10)
    read = [await world.memory.entries.found(each, ANA) for each in kept.turns]
    assert [each.follows for each in read[1:]] == [each.number for each in read[:-1]]
    again = await world.memory.conversations(talk, ANA, "talk-1")
    assert again.turns == kept.turns


FOREIGN = [
    "Wir haben beschlossen, den Saatguttausch im April zu machen.",
    "Hemos decidido plantar tomates en el huerto en abril.",
    "\u6211\u4eec\u51b3\u5b9a\u56db\u6708\u79cd\u756a\u8304\u3002",
    "\u041c\u044b \u0440\u0435\u0448\u0438\u043b\u0438.",
    "Ich mag lieber kurze Treffen, und alle anderen finden das auch gut.",
]


@pytest.mark.parametrize("text", FOREIGN)
async def test_that_the_rules_read_no_other_language_is_said(world: World, text: str) -> None:
    kept = await world.memory.conversations([*TALK, Turn("Uli", text)], ANA, "talk-1")
    assert len(kept.found) == 3
    assert kept.note is not None
    assert kept.note.startswith("1 of 4 turns seem to be in another language")
    assert f"Uli: {text}" in await world.found(ANA, text)


async def test_a_turn_that_is_only_in_part_in_another_language_is_told_of(world: World) -> None:
    text = "The key is in box 12. Vielleicht treffen wir uns am Freitag in Berlin."
    kept = await world.memory.conversations([Turn("Uli", text)], ANA, "talk-1")
    assert [each.what for each in kept.found] == ["The key is in box 12."]
    assert kept.note is not None
    assert kept.note.startswith("1 of 1 turns seem to be in another language")


async def test_english_talk_has_no_note_whether_anything_is_found_in_it(world: World) -> None:
    chat = [
        "Hello! How was your week?",
        "Great idea, thanks Rosa!",
        "Yes.",
        "No idea at all.",
        "42",
    ]
    chat += ["I do not de facto agree.", "Water beds daily, check pumps.", "\U0001f600", "42"]
    said = [*TALK, *(Turn("Ana", each) for each in chat)]
    assert (await world.memory.conversations(said, ANA, "talk-1")).note is None


async def test_a_turn_and_what_was_found_in_it_are_one_answer(world: World) -> None:
    kept = await world.memory.conversations(TALK, ANA, "talk-1")
    found = [each.entry.id for each in (await world.ask(ANA, "beans in bed four")).results]
    assert kept.found[1].id in found
    assert kept.turns[2] not in found


async def test_a_turn_answers_what_was_not_found_in_it_by_itself(world: World) -> None:
    said = "We decided to plant beans. Perhaps my cousin brings her trombone and some lanterns."
    kept = await world.memory.conversations([Turn("Rosa", said)], ANA, "talk-1")
    found = [each.entry.id for each in (await world.ask(ANA, "cousin trombone lanterns")).results]
    assert found == kept.turns
    assert len(kept.found) == 1


async def test_what_is_said_later_ends_a_fact_also_where_none_was_found_in_it(world: World) -> None:
    said = ("Kofi prefers green tea.", "Kofi changed her mind and prefers fennel tea.")
    talks = [[Turn("Ana", each)] for each in said]
    before, after = [await world.memory.conversations(each, ANA, "talk") for each in talks]
    assert (len(before.found), len(after.found)) == (1, 0)
    answer = await world.ask(ANA, "What does Kofi prefer? Green tea?")
    assert [each.entry.id for each in answer.results] == [after.turns[0], before.found[0].id]
    standing = answer.results[1].standing
    assert standing is not None
    assert standing.seems_replaced_by == [after.turns[0]]


async def test_facts_wait_for_a_look_and_not_their_turns_beside_them(world: World) -> None:
    for code in ("1111", "2222"):
        said = f"Good morning! The gate code is {code}. How was your week?"
        await world.memory.conversations([Turn("Ana", said)], ANA, code)
    (pair,) = (await world.memory.review(ANA)).pairs
    assert pair.newer.content == "Ana: The gate code is 2222."
    assert pair.older.content == "Ana: The gate code is 1111."


async def test_a_fact_has_no_other_fact_as_the_turn_before_it(world: World) -> None:
    kept = await world.memory.conversations(TALK, ANA, "talk-1")
    turns = [await world.memory.entries.found(each.turn, ANA) for each in kept.found]
    found = [await world.memory.entries.found(each.id, ANA) for each in kept.found]
    assert [each.taken_from for each in found] == [each.number for each in turns]
    assert {each.follows for each in found} == {None}


texts = st.text(max_size=200) | st.sampled_from([each.text for each in TALK])


@given(st.lists(st.builds(Turn, st.sampled_from(["Ana", "Ben"]), texts), max_size=6))
async def test_nothing_is_made_up(turns: list[Turn]) -> None:
    for each in await RuleExtractor()(turns):
        assert each.what in turns[each.turn].text
        assert each.who == turns[each.turn].speaker
        assert not each.what.endswith("?")
