"""What of a conversation is kept by itself: what its speaker means, and says themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.extraction import Kind, RuleExtractor, Turn

pytestmark = pytest.mark.anyio
DENIED = [
    "I don't think we decided anything yet about the pump.",
    "It is not true that we decided to sell the van.",
    "I never said I like cilantro.",
    "No one told me that we voted for the blue door.",
    "At no point have we decided to sell.",
    "There's no way we agreed to that.",
    "I wouldn't say I like jazz.",
    "Not that I like it.",
    "It is false that the library opens at 9.",
    "The key is in box 12, which is not true.",
    "The rent is 900 euros — not!",
    "We decided nothing.",
    "I'm afraid we agreed to nothing.",
    "We agreed to disagree.",
]
REPORTED = [
    "They said we agreed to pay 500 euros, which is a lie.",
    "I heard that the rent is 900 euros, but that is false.",
    "Carla told me: I hate peanuts.",
    "The neighbours claim we agreed to pay 300 euros.",
    "We agreed to sell, or so Carla claims.",
    "We decided to sell the van, Ben said.",
    "Ben lives in Rome, according to Carla.",
    "The contract says: we agreed to pay 500 euros.",
    "My mother thinks I like opera.",
    "It's a myth that I love cats.",
    "I think the gate code is 4711.",
    "I was under the impression that we agreed to sell.",
    "Ben: I love cats.",
    "ben_k: I love cats.",
]
IMAGINED = [
    "Imagine we decided to buy a boat.",
    "Suppose the rent is 900 euros.",
    "In my dream the house was red and Ben lives in Paris.",
    "In the film we decided to rob a bank.",
    "Let us assume we agreed on blue.",
    "I wish the rent was 500 euros.",
    "The rent would be 900 euros in Berlin.",
    "You make it sound like I love cats.",
]
OPEN = [
    "Nobody knows whether we agreed to paint it red.",
    "Once we've decided, I'll call you.",
    "Before we agreed on a date, it rained.",
    "As soon as we have agreed, I will write.",
    "Had we agreed on red, I would have bought it.",
    "Once the rent is 900 euros, I move out.",
    "Ben pays 20 euros unless we decided otherwise.",
    "Decision pending.",
    "Decision: still open.",
    "Decision on the pump: postponed.",
    "Agreed, but I am against it.",
    "Agreed.",
    "I doubt that we agreed to meet on Friday.",
]
QUOTED = [
    '"I love opera," Ben said.',
    "“I hate jazz. I love opera,” said Ben.",
    "'I love opera,' Ben said.",
    "«I love opera», said Ben.",
    'The paper reads: "The rent is 900 euros."',
    'Ben: "We decided to go. We agreed on red."',
    "> I prefer tabs over spaces",
    "> > I prefer tabs over spaces",
    "```python\n# we decided to use Redis\n```",
    "~~~\nwe decided to use Redis",
    "The comment is `we decided to use Redis`.",
]
EMPTY_PROPOSALS = [
    "Let's take a break.",
    "Let's do this!",
    "Let's use our heads.",
    "Let's take a look at PostgreSQL.",
    "Let's do it, Ana!",
    "Let's take one step at a time.",
    "Let's meet again some time.",
    "Let's go with the flow.",
]
MENDED = [
    "The invoice is due on Friday. No, wait, Monday.",
    "The fee is 20 euros. Correction: 25 euros.",
    "The lease is 12 months. Scratch that.",
    "I prefer tea. Wait, no, coffee.",
    "We agreed on red. Sorry, I meant blue.",
    "The code is 4711... wait, no, that is the old one.",
    "The fee is 20 euros. Oh no, wait, it is 30.",
    "The fee is 20 euros. Make that 25.",
    "The rent is 900, sorry, I mean 950 euros.",
    "The party is on Friday \u2014 no, wait, Saturday.",
    "The pin is 777. As if.",
]
ASIDES = [
    "Oh sure, the rent is 5,000 euros, and I am the queen of Spain.",
    "Yeah right, the rent is 12 euros.",
    "For example, the budget is 950 euros.",
    "In theory the budget is 300 euros.",
    "The pin is 8888, lol no.",
    "The pin is 6666 (not really).",
    "The meeting is on Monday, I hope.",
    "The deadline is Thursday, isn't it",
    "The deadline is Thursday, right.",
    "Guess what the pin is 3636.",
]
POINTING = [
    "It is at the station, five minutes from here.",
    "Yeah, that's the best place in Berlin.",
    "They have 200 shops in Spain.",
    "You have to spend a summer in Lisbon.",
    "Don't forget to bring 20 euros.",
    "Let\u2019s talk tomorrow, Kim.",
]
DECISIONS = [
    "We decided to rent the van.",
    "We agreed not to sell.",
    "Before the meeting we decided to buy two pumps.",
    "After the vote on Monday we decided to sell.",
    "When Ben left, we decided to sell.",
    "No, we decided to sell the van.",
    "It isn't cheap, but we decided to buy it.",
    "The old pump does not work, so we decided to buy a new one.",
    "Ben said it is broken, so we decided to buy a new one.",
    "As I said, we agreed to meet on Friday.",
    "I'm glad we decided to keep the shed.",
    "We decided that nobody smokes on the terrace.",
    "We decided to be open on Mondays.",
    'We have agreed on the name "Blue Door".',
    "It was decided to sell the shed.",
    "Decision: we buy two pumps.",
    "Decision on the pump: buy two.",
    "Agreed to meet on Friday.",
    "Decided to paint it red.",
    "Let's use PostgreSQL.",
    "Let's go with `redis` for the cache.",
    "Let's meet on Friday at six.",
    "Let's meet at the library.",
    "Let\u2019s take the 8:15 bus.",
    "We'll meet Dr. Jones on Friday.",
]
PREFERENCES = [
    "I don't like cilantro.",
    "I can't stand noise.",
    "I must say I love opera.",
    "Though I hate mornings, I prefer early meetings.",
    "Update: I prefer tea now.",
    "Green tea is what I prefer now.",
    "I am not vegetarian any more.",
    "I'd rather take the train.",
]
FACTS = [
    "Mr. Smith's cat is 3 years old.",
    "The rent is 900 euros.",
    "The rent is not 900 euros.",
    "Once a week the choir meets at 8.",
    "The insurance claim is 900 euros.",
    "Choir is on Tuesdays at seven now, please tell the altos.",
    "Sure, the rent is 900 euros.",
    "The rent is 900 euros, right next to the station.",
    "The shed is in Berlin, not in Bonn.",
    "No wait, the rent is 900 euros.",
    "I am on a low salt diet since January, it was easier than I thought.",
]


async def found(text: str, speaker: str = "Lea") -> list[tuple[Kind, str]]:
    return [(each.kind, each.what) for each in await RuleExtractor()([Turn(speaker, text)])]


@pytest.mark.parametrize(
    "text",
    [*DENIED, *REPORTED, *IMAGINED, *OPEN, *QUOTED, *EMPTY_PROPOSALS, *MENDED, *ASIDES],
)
async def test_what_the_speaker_does_not_mean_stays_in_the_turn(text: str) -> None:
    assert await found(text) == []


@pytest.mark.parametrize("text", POINTING)
async def test_what_says_nothing_without_the_line_before_it_stays_in_the_turn(text: str) -> None:
    assert await found(text) == []


@pytest.mark.parametrize("text", DECISIONS)
async def test_a_decision_is_kept_word_for_word(text: str) -> None:
    assert await found(text) == [(Kind.DECISION, text)]


@pytest.mark.parametrize("text", PREFERENCES)
async def test_a_preference_is_kept_word_for_word(text: str) -> None:
    assert await found(text) == [(Kind.PREFERENCE, text)]


@pytest.mark.parametrize("text", FACTS)
async def test_a_fact_is_kept_word_for_word(text: str) -> None:
    assert await found(text) == [(Kind.FACT, text)]


async def test_what_stands_around_a_quotation_is_kept() -> None:
    text = (
        'Ben said: "I live here. We decided to go." We decided to stay.\n> I hate tea\nI love tea.'
    )
    assert await found(text) == [
        (Kind.DECISION, "We decided to stay."),
        (Kind.PREFERENCE, "I love tea."),
    ]


async def test_what_is_taken_back_in_the_next_sentence_is_not_kept() -> None:
    text = "We decided to sell the van. Just kidding! I love tea."
    assert await found(text) == [(Kind.PREFERENCE, "I love tea.")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I prefer tea.", "No, sorry, I prefer coffee."),
        ("The fee is 20 euros.", "Correction: the fee is 25 euros."),
        ("The fee is 20 euros.", "Wait, no, the fee is 25 euros."),
    ],
)
async def test_what_is_said_in_place_of_a_sentence_is_kept_alone(before: str, after: str) -> None:
    assert [what for _, what in await found(f"{before} {after}")] == [after]
    turns = [Turn("Lea", before), Turn("Lea", after)]
    assert [each.what for each in await RuleExtractor()(turns)] == [after]


@pytest.mark.parametrize(
    "after",
    [
        "No, wait, I should feed the cat first.",
        "Correction: the hall opens at 9.",
        "I meant to call you.",
        "Sorry, no time today.",
        "Make that clear to everybody.",
    ],
)
async def test_what_mends_something_else_takes_nothing_back(after: str) -> None:
    assert (Kind.FACT, "The rent is 900 euros.") in await found(f"The rent is 900 euros. {after}")


async def test_what_another_speaker_says_takes_nothing_back() -> None:
    turns = [Turn("Lea", "The fee is 20 euros."), Turn("Ben", "No, wait, 25.")]
    assert [each.what for each in await RuleExtractor()(turns)] == ["The fee is 20 euros."]


async def test_a_line_with_the_speakers_own_name_is_theirs() -> None:
    assert await found("Lea: I love cats.") == [(Kind.PREFERENCE, "Lea: I love cats.")]


@given(st.sampled_from([*DECISIONS, *PREFERENCES, *FACTS]), st.sampled_from(["Ben", "Carla"]))
async def test_whatever_somebody_is_said_to_have_said_is_not_kept(text: str, who: str) -> None:
    assert await found(f'{who} said: "{text}"') == []
    assert await found(f"> {text}") == []
