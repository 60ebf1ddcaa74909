"""Which turns of a conversation only ask."""

import pytest

from plugins.knowledge.memory.algorithms.asking import only_asks


@pytest.mark.parametrize(
    "turn",
    [
        "Ben: What is the door code?",
        "@ann: And the backups?",
        "Ann: Morning all. Who takes the minutes?",
        "Ben: Ann, where do you live now?",
        "[2026-03-01] Ana Meyer: Which hotel?!",
        "Ana: ¿Dónde vives ahora?",
        "Yuki: 次の会議はいつですか\uff1f",
        "When is it, and who comes?",
    ],
)
def test_a_turn_that_only_asks_is_known_as_one(turn: str) -> None:
    assert only_asks(turn)


@pytest.mark.parametrize(
    "turn",
    [
        "Chloe: Anna moved to Bonn last weekend, did you see the photos?",
        "Ben: The code is 4411. Did you write it down?",
        "Ben: The code is 4411.",
        "Ana: " + "Is it? " * 100,
        "Ana: The gate is open at nine on Mondays. Why?",
    ],
)
def test_what_says_something_as_well_is_no_mere_question(turn: str) -> None:
    assert not only_asks(turn)
