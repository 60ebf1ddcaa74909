"""What people say to each other replaces nothing, unless it says the same thing anew."""

from itertools import permutations

import pytest

from plugins.knowledge.memory.algorithms.claims import claims, turn_of
from plugins.knowledge.memory.algorithms.contradictions import compare
from plugins.knowledge.memory.algorithms.topics import on_one_topic
from tests.plugins.knowledge.memory.algorithms.test_contradictions import said

NEAR = 0.8
"""The cosine of short lines by one person, whatever they say."""
SMALL_TALK = [
    "Thanks!",
    "Morning",
    "Ohh",
    "Well",
    "Sounds good to me",
    "yeah I guess you're right",
    "Lol that's wild",
    "Probably the rain again",
    "Turned out pretty well",
    "Out in the garden all afternoon",
    "I'm in the queue for the bus right now",
    "I've got some soup on the stove",
    "That's actually such a nice picture",
    "Now that you mention it I might watch that one",
    "We should meet up in New York some day",
    "It's been a long week, glad that it is over",
]
LABELS = [
    ("Treasurer: Ana", "Treasurer: Ben"),
    ("Bins: Friday", "Bins: Tuesday"),
    ("Rent: 400 euros", "Rent: 450 euros"),
]


@pytest.mark.parametrize("lines", list(permutations(SMALL_TALK, 2)), ids=" / ".join)
def test_small_talk_replaces_nothing_and_is_on_no_topic(lines: tuple[str, str]) -> None:
    old, new = (said(f"Kim: {line}") for line in lines)
    likeness = compare(new, old, NEAR)
    assert (likeness.replaces, likeness.one_thing) == (False, False)


@pytest.mark.parametrize(("before", "after"), LABELS)
def test_a_property_that_gets_another_value_is_replaced(before: str, after: str) -> None:
    assert compare(said(after), said(before), NEAR).replaces


def test_of_a_property_without_a_known_kind_of_value_the_newer_goes_first() -> None:
    assert compare(said("Venue: the town hall"), said("Venue: the barn"), NEAR).one_thing
    assert compare(said("Allergies: peanuts"), said("Allergies: walnuts"), NEAR).one_thing


@pytest.mark.parametrize("line", SMALL_TALK)
def test_what_stands_behind_a_name_and_is_no_value_is_said_by_somebody(line: str) -> None:
    assert turn_of(f"Kim: {line}") == ("Kim", line)


@pytest.mark.parametrize("name", ["kim", "kim_w", "@kim", "kim.w42"])
@pytest.mark.parametrize("line", SMALL_TALK)
def test_who_speaks_may_be_called_as_in_a_chat(name: str, line: str) -> None:
    assert turn_of(f"{name}: {line}") == (name, line)


@pytest.mark.parametrize("line", ["Mm-hmm.", "Okay, right", "Switch that one off", "So powerful"])
def test_who_speaks_may_be_called_by_their_role(line: str) -> None:
    assert turn_of(f"Project Manager: {line}") == ("Project Manager", line)


@pytest.mark.parametrize(
    ("before", "after", "is_one"),
    [
        ("I keep the spare key under the pot.", "The spare key is with Lou.", True),
        ("I work in a bakery.", "I work in a garage.", True),
        ("I am so tired today.", "I am at the market.", False),
        ("The concert was great, we danced for hours.", "I ate a great soup at the market.", False),
    ],
)
def test_lines_of_a_conversation_are_on_one_topic_by_their_things(
    before: str, after: str, is_one: bool
) -> None:
    (old,), (new,) = claims(before, "Kim"), claims(after, "Kim")
    assert on_one_topic(new, old) is is_one


def test_talk_behind_a_date_and_a_name_is_no_value() -> None:
    old, new = (
        said(f"8 May 2023, Kim Lou: {line}") for line in ("I guess you're right", "Thanks for that")
    )
    assert not compare(new, old, NEAR).replaces


def test_a_change_among_small_talk_is_found() -> None:
    old, new = said("Kim: I live in Porto, it's lovely."), said("Kim: I live in Lisbon now, haha.")
    assert compare(new, old, NEAR).replaces
