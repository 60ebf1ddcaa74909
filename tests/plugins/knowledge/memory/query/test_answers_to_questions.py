"""Answers that stand in the turn after a question of a conversation."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gateway.services.embedding.service import open_embedder
from plugins.knowledge.memory.tools.results import Memories
from tests.plugins.knowledge.memory.conftest import NOON, Opener, World
from tests.plugins.knowledge.memory.tools.test_recall import call

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


@pytest.fixture(scope="module")
def model() -> Any:
    """The model that a portal ships with."""
    return open_embedder("embedded")


@pytest.fixture
async def real(open_world: Opener, model: Any) -> World:
    """A memory that knows what words mean."""
    return await open_world(model)


async def talk(world: World, *said: tuple[str, str], days: int = 0) -> list[str]:
    """Keep a conversation; the ids of its turns."""
    world.clock.time = begins = NOON + timedelta(days=days)
    turns = [
        {"speaker": who, "text": text, "at": begins + timedelta(minutes=at)}
        for at, (who, text) in enumerate(said)
    ]
    kept = await call(world, "remember_conversation", name=f"talk {days}", turns=turns)
    return [str(each) for each in kept.turns]


async def ask(world: World, question: str, **more: Any) -> Memories:
    answer: Memories = await call(world, "query_memory", query=question, **more)
    return answer


async def test_the_turn_that_answers_is_found_in_place_of_the_one_that_asks(real: World) -> None:
    await talk(
        real,
        ("Ben", "How many beta testers do we have?"),
        ("Dan", "37 so far."),
        ("Ana", "The blue room is taken."),
    )
    answer = await ask(real, "How many beta testers are there?")
    best = answer.results[0]
    assert best.content == "Dan: 37 so far."
    assert best.context == "Ben: How many beta testers do we have?"
    assert f"context: {best.context}" in answer.brief()
    assert "Ben: How many beta testers do we have?" not in [each.content for each in answer.results]


async def test_a_question_that_nobody_answered_is_found_itself(real: World) -> None:
    await talk(
        real,
        ("Ben", "Who pays for the pilot?"),
        ("Dan", "And who signs for it?"),
    )
    answer = await ask(real, "Who pays for the pilot?")
    assert "Ben: Who pays for the pilot?" in [each.content for each in answer.results]


@pytest.mark.parametrize(
    "later",
    [
        [("Ana", "The door code was changed to 9028.")],
        [("Cy", "Which door code do we have now?"), ("Ana", "9028, I tried it.")],
    ],
)
async def test_what_is_said_later_goes_before_an_older_answer(
    real: World, later: list[tuple[str, str]]
) -> None:
    await talk(real, ("Ben", "What is the door code?"), ("Ana", "4471, do not write it down."))
    await talk(real, *later, days=3)
    await talk(real, ("Cy", "The door sticks."), ("Ana", "I hear it squeak."), days=4)
    answer = await ask(real, "What is the door code?")
    assert "9028" in answer.results[0].content
    before = await ask(real, "What is the door code?", as_of=NOON + timedelta(days=1))
    assert "9028" not in "".join(each.content for each in before.results)


async def test_of_the_same_person_only_what_is_of_that_matter_goes_before(real: World) -> None:
    await talk(real, ("Cy", "What is Priya's email?"), ("Dan", "priya@lantern.example"))
    await talk(real, ("Ben", "I handed the minutes over to Priya now."), days=3)
    answer = await ask(real, "What is Priya's email address?")
    assert answer.results[0].content == "Dan: priya@lantern.example"


async def test_a_fact_is_shown_with_the_rest_of_its_turn(real: World) -> None:
    turn = "The hotel is not the Alster in the end. We sleep at the Motel One."
    await talk(real, ("Dan", turn))
    best = (await ask(real, "Which hotel is it in the end?")).results[0]
    assert "Motel One" in f"{best.content} {best.context}"
