"""Each version of an entry is its own readers', whatever the entry's policy is by now."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import Caller
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import AccessPolicy, AccessPolicyConfig, readers
from plugins.knowledge.memory.rights.access import caller_keys
from tests.examples import examples
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, DEE, World

pytestmark = pytest.mark.anyio
policies = st.sampled_from(
    [
        AccessPolicyConfig(policy=AccessPolicy.PRIVATE),
        AccessPolicyConfig(policy=AccessPolicy.RESTRICTED, approved_users=("person:ben",)),
        AccessPolicyConfig(policy=AccessPolicy.SHARED, allowed_teams=("garden",)),
        AccessPolicyConfig(policy=AccessPolicy.ORGANIZATION),
        AccessPolicyConfig(policy=AccessPolicy.PUBLIC),
    ]
)


async def written(world: World, policies: Sequence[AccessPolicyConfig]) -> str:
    """An entry of Ana's with a version under each policy: line 1 stays, line 2 is the number."""
    first, *others = policies
    id = (await world.remember(ANA, "Shed.\nWas 1.", first.model_dump(mode="json"))).id
    for number, policy in enumerate(others, 2):
        await world.open(ANA, id, f"Shed.\nWas {number}.", policy.model_dump(mode="json"))
    return id


async def refusal(asking: Any) -> MemoryFailed:
    with pytest.raises(MemoryFailed) as refused:
        await asking
    return refused.value


async def test_what_was_private_is_nobody_elses_once_the_entry_is_public(world: World) -> None:
    entry = await world.remember(ANA, "My salary is 4,200.")
    await world.open(ANA, entry.id, "Salaries are talked about in May.", {"policy": "public"})
    past = await world.memory.reader.history(entry.id, DEE)
    assert [each.number for each in past] == [2]
    said = await world.memory.reader.metadata(entry.id, DEE)
    assert [each.version for each in said.version_history or ()] == [2]
    assert [each.number for each in await world.memory.reader.history(entry.id, ANA)] == [2, 1]


async def test_what_was_in_a_session_stays_its_owners_though_it_was_called_public(
    world: World,
) -> None:
    public = {"policy": "public"}
    entry = await world.remember(ANA, "Draft.", public, "session", importance=1.0, confidence=1.0)
    await world.memory.upkeep.once()
    assert (await world.memory.reader.entry(entry.id, ANA)).layer == "episodic"
    await world.open(ANA, entry.id, "Done.", public)
    assert [each.number for each in await world.memory.reader.history(entry.id, DEE)] == [3]


@settings(
    max_examples=examples(10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(policies, min_size=2, max_size=5))
async def test_every_way_to_a_version_asks_for_its_own_readers(
    world: World, policies: list[AccessPolicyConfig]
) -> None:
    id = await written(world, policies)
    for who in (ANA, BEN, CY, DEE):
        held = caller_keys(who)
        may = {n for n, each in enumerate(policies, 1) if held & readers("person:ana", each)}
        if len(policies) not in may:
            gone = await refusal(world.memory.reader.history(id, who))
            assert gone.number is ErrorCode.NOT_FOUND
            continue
        past = await world.memory.reader.history(id, who)
        assert {each.number for each in past} == may
        said = await world.memory.reader.metadata(id, who)
        assert {each.version for each in said.version_history or ()} == may
        if policies[-1].policy in {AccessPolicy.SHARED, AccessPolicy.RESTRICTED}:
            await _no_base_is_an_oracle(world, id, who, may, len(policies))


async def _no_base_is_an_oracle(
    world: World, id: str, who: Caller, may: set[int], last: int
) -> None:
    """To guess a version's content tells the same as to name a version that never was."""
    never = await refusal(world.change(who, id, "Guess.", version=last + 7))
    for number in set(range(1, last)) - may:
        for guess in (f"Shed.\nWas {number}.", "Shed.\nWas never."):
            told = await refusal(world.change(who, id, guess, version=number))
            assert str(told).replace(str(number), "#", 1) == str(never).replace(
                str(last + 7), "#", 1
            )
            assert (told.number, told.details) == (never.number, never.details)
