"""A question that takes two entries is answered from both, and only by what its reader may read."""

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import Caller
from plugins.knowledge.memory.algorithms.entities import MAX_SHARED
from plugins.knowledge.memory.algorithms.extraction import Turn
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.policy import AccessPolicy, AccessPolicyConfig, readers
from plugins.knowledge.memory.model.requests import RelationDraft
from plugins.knowledge.memory.model.responses import LinkedBy
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.query.links import MAX_LINKED
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.tools.results import memories
from tests.examples import examples
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, DEE, World

pytestmark = pytest.mark.anyio
QUESTION = "When can we buy no flour?"
FIRST = "We buy our flour from Mill Street."
_number = count()
SECOND = "Mill Street is closed in the first week of May."


async def said(world: World, *texts: str, policy: str = "private") -> list[str]:
    return [(await world.remember(ANA, each, policy)).id for each in texts]


async def test_a_question_is_answered_from_two_entries_that_name_one_thing(world: World) -> None:
    fillers = [f"When can we buy a ticket for day {number}?" for number in range(12)]
    await said(world, FIRST, SECOND, *fillers)
    found = await world.found(ANA, QUESTION, options={"limit": 5})
    assert found[0] == FIRST
    assert SECOND in found


async def test_the_answer_says_what_leads_to_the_second_entry(world: World) -> None:
    first, second = await said(world, FIRST, SECOND)
    answer = await world.ask(ANA, QUESTION)
    links = {each.entry.id: each.linked_by for each in answer.results}
    assert links[first] is None
    assert links[second] == LinkedBy(name="mill street", entry_id=first)
    assert f"shares mill street with {first}" in memories(answer, QUESTION, 0).brief()


@pytest.mark.parametrize("ended", ["superseded", "over"])
async def test_what_holds_no_more_leads_nowhere(world: World, ended: str) -> None:
    first, second = await said(world, FIRST, SECOND)
    if ended == "over":
        await world.change(ANA, first, FIRST, validity={"valid_until": "2026-02-01"})
    else:
        last = await world.remember(ANA, "We buy our flour from Oakfern.")
        draft = RelationDraft(kind=Relation.SUPERSEDES, target=first)
        await world.memory.governed.relate(last.id, draft, ANA)
    answer = await world.ask(ANA, QUESTION)
    assert second not in {each.entry.id for each in answer.results if each.linked_by}


async def test_what_was_taken_from_a_turn_or_says_the_same_leads_to_nothing_new(
    world: World,
) -> None:
    talk = [Turn("Uli", "Good news for all! The flour is in the shed of Mill Street.")]
    kept = await world.memory.conversations(talk, ANA, "talk")
    assert len(kept.found) == 1
    answer = await world.ask(ANA, "Where is our flour?")
    assert {each.entry.id: each.linked_by for each in answer.results} == {kept.found[0].id: None}
    await world.remember(ANA, f"Uli: {kept.found[0].what.upper()}", layer="user")
    answer = await world.ask(ANA, "Where is our flour?")
    led = {each.layer: each.linked_by for each in answer.results}
    assert set(led) == {Layer.SEMANTIC, Layer.USER}
    assert led[Layer.SEMANTIC] is None or led[Layer.USER] is None


async def test_an_entry_leads_nobody_to_what_they_may_not_read(world: World) -> None:
    await said(world, FIRST, policy="public")
    await said(world, SECOND)
    assert await world.found(BEN, QUESTION) == [FIRST]


async def test_what_others_keep_makes_no_name_less_rare(world: World) -> None:
    await said(world, FIRST, SECOND, policy="public")
    before = await world.ask(BEN, QUESTION)
    await said(world, *(f"Mill Street delivers on day {number}." for number in range(MAX_SHARED)))
    after = await world.ask(BEN, QUESTION)
    assert [each.score for each in after.results] == [each.score for each in before.results]


async def test_a_name_that_many_entries_have_leads_nowhere(world: World) -> None:
    await said(world, FIRST, SECOND)
    await said(world, *(f"Mill Street sent letter {number}." for number in range(MAX_SHARED)))
    answer = await world.ask(ANA, QUESTION)
    assert all(each.linked_by is None for each in answer.results)


async def test_few_entries_are_raised_so_that_what_answers_by_itself_stays(world: World) -> None:
    await said(world, FIRST, *(f"Mill Street sent letter {number}." for number in range(8)))
    answer = await world.ask(ANA, QUESTION)
    assert sum(each.linked_by is not None for each in answer.results) <= MAX_LINKED
    assert answer.results[0].entry.content == FIRST


async def test_what_was_changed_or_forgotten_leads_nowhere(world: World) -> None:
    first, second = await said(world, FIRST, SECOND)
    await world.change(ANA, second, "Everything is closed in the first week of May.")
    answer = await world.ask(ANA, QUESTION)
    assert all(each.linked_by is None for each in answer.results)
    assert first in {each.entry.id for each in answer.results}


async def test_an_entry_that_names_everything_goes_before_nothing_that_leads_to_it(
    world: World,
) -> None:
    streets = [f"{name} Street" for name in ("Mill", "Elm", "Dock", "Castle", "Orchard", "Bridge")]
    goods = ["flour", "paper", "soil", "paint", "candles", "honey"]
    pairs = list(zip(streets, goods, strict=True))
    said_of = await said(world, *(f"Our {what} comes from {where}." for where, what in pairs))
    await said(world, f"{' and '.join(streets)} all say: buy here, now and only here.")
    for (_, what), first in zip(pairs, said_of, strict=True):
        answer = await world.ask(ANA, f"Where does our {what} come from?")
        assert answer.results[0].entry.id == first


ASKED = "Whom do I ask about the treasury?"
LOWER = "ask maria about the treasury"
MARIA = "Maria Rossi sits in room 4 on Mondays."


async def test_a_name_without_its_capital_leads_to_what_names_it_with_one(world: World) -> None:
    fillers = [f"Whom do I ask about bed {number}?" for number in range(12)]
    first, *_ = await said(world, LOWER, MARIA, *fillers)
    answer = await world.ask(ANA, ASKED, options={"limit": 5})
    links = {each.entry.content: each.linked_by for each in answer.results}
    assert links[MARIA] == LinkedBy(name="maria", entry_id=first)


async def test_a_word_that_is_mostly_written_small_names_nothing(world: World) -> None:
    await said(world, "ask at the street door about the treasury", "Mill Street is closed in May.")
    await said(world, *(f"The street lamp {number} is out." for number in range(4)))
    answer = await world.ask(ANA, ASKED)
    assert all(each.linked_by is None for each in answer.results)


@pytest.mark.heavy
@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(st.sampled_from([ANA, BEN, CY]), min_size=1, max_size=4),
    st.lists(st.sampled_from(["private", "organization", "public"]), min_size=4, max_size=4),
    st.sampled_from([BEN, DEE]),
)
async def test_a_known_name_tells_nobody_of_entries_that_they_may_not_read(
    world: World, owners: list[Caller], policies: list[str], reader: Caller
) -> None:
    name = f"quokka{next(_number)}"
    await world.remember(ANA, f"ask {name} about the treasury", "public")
    told = await _told(world, reader)
    hidden = [(who, policy) for who, policy in zip(owners, policies, strict=False)]
    hidden = [(who, how) for who, how in hidden if not _may_read(reader, who, how)]
    for who, policy in hidden:
        await world.remember(who, f"We saw {name.capitalize()} in room 4.", policy)
    assert await _told(world, reader) == told
    await world.remember(ANA, f"We saw {name.capitalize()} in room 4.", "public")
    assert (await _told(world, reader) == told) is False


async def _told(world: World, who: Caller) -> list[object]:
    """What somebody is shown of an answer, and in which order and why."""
    answer = await world.ask(who, ASKED, options={"limit": 50})
    return [(each.entry.id, each.score, each.linked_by) for each in answer.results]


def _may_read(reader: Caller, owner: Caller, policy: str) -> bool:
    return bool(
        caller_keys(reader)
        & readers(owner.person or "", AccessPolicyConfig(policy=AccessPolicy(policy)))
    )
