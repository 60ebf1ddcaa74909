"""Who hears of requests: those who may decide them, as far as keys say so, and who asked."""

from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.contract import Caller, Tier
from plugins.knowledge.memory.model.policy import ANYONE_KEY, MEMBERS_KEY, group_key, person_key
from plugins.knowledge.memory.model.requests import CreateRequest, UpdateRequest
from plugins.knowledge.memory.rights.access import caller_keys, intersect_keys
from plugins.knowledge.memory.rights.roles import has_role, role_keys
from plugins.knowledge.memory.store.tables import events
from tests.plugins.knowledge.memory.conftest import ANA, CY, World

pytestmark = pytest.mark.anyio
GROUPS = ["garden", "kitchen"]
PEOPLE = ["person:ana", "person:cy"]
key_sets = st.frozensets(
    st.sampled_from([ANYONE_KEY, MEMBERS_KEY, *map(group_key, GROUPS), *map(person_key, PEOPLE)])
)
callers = st.builds(
    Caller,
    st.sampled_from([None, *PEOPLE]),
    st.sampled_from(Tier),
    groups=st.frozensets(st.sampled_from(GROUPS)),
)
roles = st.lists(st.sampled_from(["public", "members", "admin", *(f"group:{g}" for g in GROUPS)]))


@given(key_sets, key_sets, callers)
@example(
    frozenset({ANYONE_KEY}),
    frozenset({group_key("garden")}),
    Caller("person:ana", Tier.PUBLIC, groups=frozenset({"garden"})),
)
def test_who_holds_a_key_of_both_holds_one_of_each(
    some: frozenset[str], others: frozenset[str], caller: Caller
) -> None:
    held = caller_keys(caller)
    if not held.isdisjoint(intersect_keys(some, others)):
        assert not held.isdisjoint(some)
        assert not held.isdisjoint(others)


@given(key_sets)
def test_what_everybody_may_takes_nothing_away(some: frozenset[str]) -> None:
    assert intersect_keys(some, {ANYONE_KEY}) == intersect_keys({ANYONE_KEY}, some) == some
    assert intersect_keys(some, some) == some
    assert intersect_keys(some, ()) == frozenset()


@given(roles, callers)
def test_who_holds_a_key_of_a_role_has_the_role(names: list[str], caller: Caller) -> None:
    if not caller_keys(caller).isdisjoint(role_keys(names)):
        assert has_role(caller, names)


async def heard(world: World, kind: str) -> list[Any]:
    async with world.host.database.read() as connection:
        chosen = sa.select(events).where(events.c.kind == kind).order_by(events.c.number)
        return list(await connection.execute(chosen))


async def test_a_request_is_told_to_who_may_decide_and_the_decision_to_who_asked(
    world: World,
) -> None:
    request = {
        "entry": {"content": "Quincunx."},
        "options": {"access_policy": {"policy": "organization"}},
        "governance": {"require_approval": True},
    }
    made = await world.memory.governed.create(CreateRequest.model_validate(request), ANA)
    assert made.approval_required is not None
    id = made.approval_required.request_id
    (asked,) = await heard(world, "approval_requested")
    assert asked.readers == [MEMBERS_KEY]
    assert asked.body == {
        "request_id": id,
        "operation": "create",
        "entry_id": made.entry.id,
        "requested_by": "person:ana",
    }
    assert await heard(world, "approval_decided") == []
    await world.memory.approvals.decide(id, CY, approve=True)
    (decided,) = await heard(world, "approval_decided")
    assert decided.readers == [person_key("person:ana")]
    assert (decided.body["state"], decided.body["request_id"]) == ("approved", id)


async def test_who_may_read_what_a_change_opens_hears_of_it_and_of_no_other(world: World) -> None:
    opens = {"access_policy": {"policy": "organization"}}
    closes = {"access_policy": {"policy": "shared", "allowed_teams": ["garden"]}}
    for policy, content, options, told in (
        ("private", "For all.", opens, [MEMBERS_KEY]),
        ("organization", "For gardeners.", closes, []),
    ):
        entry = await world.remember(ANA, f"Not yet: {content}", policy)
        change = {
            "entry": {"content": content},
            "options": options,
            "governance": {"require_approval": True},
        }
        await world.memory.governed.update(entry.id, UpdateRequest.model_validate(change), ANA)
        heard_of = await heard(world, "approval_requested")
        assert [each.readers for each in heard_of if each.entry == entry.id] == [told] * bool(told)


async def test_who_takes_a_request_back_hears_that_it_is(world: World) -> None:
    entry = await world.remember(ANA, "For Ana.")
    change = {
        "entry": {"content": "For all."},
        "options": {"access_policy": {"policy": "organization"}},
    }
    await world.memory.governed.update(entry.id, UpdateRequest.model_validate(change), ANA)
    (waiting,) = await world.memory.approvals.visible_to(ANA)
    await world.memory.approvals.decide(waiting.id, ANA, approve=False)
    (decided,) = await heard(world, "approval_decided")
    assert decided.body["state"] == "rejected"
