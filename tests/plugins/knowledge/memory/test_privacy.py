"""Whatever people, groups, policies and entries there are: nobody is shown what is not theirs."""

import json
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import ANONYMOUS, Caller, Tier
from plugins.knowledge.memory.model.entry import OWNER_ONLY_LAYERS, Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import AccessPolicy, AccessPolicyConfig, readers
from plugins.knowledge.memory.model.requests import CreateRequest, DeleteRequest, UpdateRequest
from plugins.knowledge.memory.rights.access import caller_keys
from tests.examples import examples
from tests.plugins.knowledge.memory.conftest import World

pytestmark = pytest.mark.anyio
GROUPS = ["garden", "kitchen"]
_number = count()
people = st.builds(
    Caller,
    person=st.sampled_from(["person:0", "person:1", "person:2"]),
    tier=st.sampled_from([Tier.PUBLIC, Tier.MEMBERS]),
    groups=st.frozensets(st.sampled_from(GROUPS)),
)
drafts = st.tuples(
    st.integers(0, 2),
    st.sampled_from(Layer),
    st.sampled_from(
        [
            *(AccessPolicyConfig(policy=each) for each in AccessPolicy),
            *(
                AccessPolicyConfig(policy=AccessPolicy.RESTRICTED, approved_users=(each,))
                for each in ("person:1", "person:2")
            ),
            *(
                AccessPolicyConfig(policy=AccessPolicy.SHARED, allowed_teams=(each,))
                for each in GROUPS
            ),
        ]
    ),
    st.booleans(),
)


async def told(asking: Any) -> str:
    """What a caller is told by a call, also where it fails."""
    try:
        return str(await asking)
    except MemoryFailed as failure:
        return f"{failure.number!r} {failure} {json.dumps(failure.details)}"


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(people, min_size=3, max_size=3, unique_by=lambda one: one.person),
    st.lists(drafts, min_size=1, max_size=5),
)
async def test_no_way_of_reading_shows_what_a_policy_keeps_back(
    world: World, callers: list[Caller], wanted: list[Any]
) -> None:
    for at, layer, access, waits in wanted:
        owner, mark = callers[at], f"quokka{next(_number)}"
        others = layer not in OWNER_ONLY_LAYERS and len(readers(owner.person or "", access)) > 1
        waits = waits and others  # what nobody else may read, nobody could approve
        request = CreateRequest.model_validate(
            {
                "entry": {"content": f"The {mark} sleeps.", "metadata": {"title": mark}},
                "options": {
                    "layer": {"type": layer},
                    "access_policy": access.model_dump(mode="json"),
                },
                "governance": {"require_approval": waits},
            }
        )
        made = await world.memory.governed.create(request, owner)
        may = readers(owner.person or "", access)
        for who in [*callers, ANONYMOUS]:
            if who.person == owner.person:
                continue
            shown = await _shown(world, who, made.entry.id, mark, layer)
            open_to = bool(caller_keys(who) & may)
            if not open_to or layer in OWNER_ONLY_LAYERS:
                assert mark not in shown, (who, layer, access, waits)
                assert await _refused_alike(world, who, made.entry.id)


async def _shown(world: World, who: Caller, id: str, mark: str, layer: Layer) -> str:
    """All that the ways of reading show somebody who knows the entry's id and words."""
    memory = world.memory
    shown = []
    for mode in ("keyword", "semantic", "hybrid"):
        for types in ([], [layer]):
            asked = world.ask(who, mark, mode=mode, layer={"types": types})
            shown.append(await told(asked))
    looks = (memory.reader.entry, memory.reader.metadata, memory.reader.history)
    shown += [await told(look(id, who)) for look in looks]
    shown.append(await told(memory.approvals.visible_to(who)))
    if who.person is not None:
        shown += [str(file) async for file in memory.personal_data.export(who.person)]
    return " ".join(shown)


async def _refused_alike(world: World, who: Caller, id: str) -> bool:
    """Whether it is told just what is told of an id that there never was."""
    memory, there = world.memory, []
    for each in (id, "mem_none"):
        change = UpdateRequest.model_validate({"entry": {"content": "x"}})
        removal = DeleteRequest.model_validate({"id": each})
        there.append(
            [
                await told(memory.entries.update(each, change, who)),
                await told(memory.entries.delete(removal, who)),
                await told(memory.reader.entry(each, who)),
                await told(memory.reader.history(each, who)),
            ]
        )
    expected = ErrorCode.UNAUTHORIZED if who.anonymous else ErrorCode.NOT_FOUND
    assert expected.name in there[0][2]
    return there[0] == there[1]
