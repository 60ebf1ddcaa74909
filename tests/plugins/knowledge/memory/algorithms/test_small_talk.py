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
LIKE_A_CHANGE = [
    ("I'm gonna go out to the pool soon", "Then I'm gonna go to the shop and look for bread"),
    (
        "I love fried rice.",
        "I ate a while ago, so I could go for some fried rice, but I probably shouldn't lol",
    ),
    (
        "Singing in the choir today was a blast!",
        "I've been part of the choir for a while now, and today's choir was fun.",
    ),
    ("I love how real Thai food is done.", "It's nice to learn from people who love the cuisine."),
    ("I think it would be almost odd to him", "Which I think would be pretty sad"),
    ("They got it from milk and eggs", "I know I couldn't live off of just milk and eggs"),
    ("I haven't read too many poems.", "It's one of the few Welsh poems that I've actually read"),
]
"""What reads like a change to whoever looks at single words."""
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


@pytest.mark.parametrize(("before", "after"), LIKE_A_CHANGE)
def test_talk_that_reads_like_a_change_replaces_nothing(before: str, after: str) -> None:
    assert not compare(said(f"Kim: {after}"), said(f"Kim: {before}"), NEAR).replaces


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


@pytest.mark.parametrize("word", ["Actually, ", "No, actually ", "Oh actually "])
def test_actually_says_that_something_changed_where_a_sentence_begins_with_it(word: str) -> None:
    old, new = said("The tour starts at noon."), said(f"{word}the tour starts by the gate.")
    assert claims(new.content)[0].cue
    assert compare(new, old, NEAR).one_thing or compare(new, old, NEAR).replaces
    assert not claims("It's the one poem that I have actually read.")[0].cue


def test_a_change_among_small_talk_is_found() -> None:
    old, new = said("Kim: I live in Porto, it's lovely."), said("Kim: I live in Lisbon now, haha.")
    assert compare(new, old, NEAR).replaces
