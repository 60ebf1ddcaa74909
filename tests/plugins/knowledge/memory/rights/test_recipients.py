"""Whom a policy names can read the entry; what nobody is called is refused."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth import Account
from gateway.contract import Attribution, Caller, Fellow, Tier
from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from plugins.knowledge import plugin
from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.model.policy import AccessPolicyConfig, readers
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.rights.recipients import Recipients

pytestmark = pytest.mark.anyio
GARDEN, KITCHEN = "claim:groups=garden", "claim:groups=kitchen"
RULES = {"any_of": [{"claim": {"name": "groups", "value": each}} for each in ("garden", "kitchen")]}
TIERS = {
    "access": {
        "members": RULES,
        "admins": {"claim": {"name": "groups", "value": "board"}},
    },
    "items": {"knowledge": "public"},
}
ISSUER = "oidc:https://id.example.org#"


async def joined(portal: TestPortal, who: str, *groups: str) -> str:
    """Sign somebody in, of whom an issuer says their name and groups."""
    account = Account(f"{ISSUER}{who}", "oidc", who.title(), None, {"groups": list(groups)})
    return (await portal.sign_in(who, account)).id


@pytest.fixture
async def town() -> AsyncGenerator[TestPortal]:
    """A portal with Ana and Noa of the garden, Ben of the kitchen, and Cy of no group."""
    async with open_test_portal(plugin, tiers=TIERS) as portal:
        await joined(portal, "ana", "garden")
        await joined(portal, "noa", "garden", "kitchen")
        await joined(portal, "ben", "kitchen", "board")
        await joined(portal, "cy")
        yield portal


async def share(town: TestPortal, who: str, **policy: Any) -> Any:
    access = {"policy": "shared" if "allowed_teams" in policy else "restricted", **policy}
    return await town.call("remember", {"content": "Beds are watered at six.", **access}, tier=who)


async def found(town: TestPortal, who: str) -> bool:
    answer = await town.call("query_memory", {"query": "beds watered six"}, tier=who)
    return bool((answer.structured or {})["results"])


@pytest.mark.parametrize("name", ["garden", "Garden", "groups=garden", GARDEN])
async def test_a_group_is_named_as_people_call_it_and_its_people_read(
    town: TestPortal, name: str
) -> None:
    kept = await share(town, "ana", allowed_teams=[name])
    assert kept.structured["status"] == "created", kept
    assert [await found(town, who) for who in ("noa", "ben", "cy")] == [True, False, False]


async def test_a_person_is_named_as_the_portal_calls_them_and_reads(town: TestPortal) -> None:
    assert (await share(town, "ana", approved_users=["noa"])).structured["status"] == "created"
    assert [await found(town, who) for who in ("noa", "ben", "cy")] == [True, False, False]


async def test_a_group_that_the_rules_name_is_shared_with_by_who_is_not_in_it(
    town: TestPortal,
) -> None:
    assert (await share(town, "ana", allowed_teams=[KITCHEN])).structured["status"] == "created"
    assert await found(town, "ben")


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({"allowed_teams": ["gardn"]}, f"Did you mean {GARDEN}?"),
        ({"allowed_teams": ["kitchen"]}, "no group 'kitchen'"),
        ({"allowed_teams": ["claim:groups=*"]}, "no group"),
        ({"allowed_teams": ["claim:groups=board"]}, "no group"),
        ({"allowed_teams": ["*"]}, "no group '*'"),
        ({"approved_users": ["noaa"]}, "Did you mean Noa (person:"),
        ({"approved_users": ["person:none"]}, "nobody called"),
        ({"policy": "private", "allowed_teams": [GARDEN]}, "use shared"),
    ],
)
async def test_what_would_be_shared_with_nobody_is_refused_and_nothing_is_written(
    town: TestPortal, policy: dict[str, Any], told: str
) -> None:
    refused = await share(town, "ana", **policy)
    assert refused.is_error
    assert told in refused.text, refused.text
    assert not await found(town, "ana")


@pytest.mark.parametrize(("policy", "named"), [("shared", "groups"), ("restricted", "people")])
async def test_a_policy_for_others_that_names_none_is_refused_by_the_tools(
    town: TestPortal, policy: str, named: str
) -> None:
    said = {"content": "Beds are watered at six.", "policy": policy}
    refused = await town.call("remember", said, tier="ana")
    assert refused.is_error
    assert f"name {named} (find_people), or say private" in refused.text
    assert not await found(town, "ana")
    kept = (await share(town, "ana", allowed_teams=["garden"])).structured
    change = {"id": kept["id"], "policy": policy}
    changed = await town.call("update_memory", change, tier="ana")
    assert changed.is_error == (policy == "restricted"), "what it named stays named"
    emptied = {"id": kept["id"], "allowed_teams": []}
    assert (await town.call("update_memory", emptied, tier="ana")).is_error
    words = {"id": kept["id"], "content": "Beds are watered at seven."}
    assert not (await town.call("update_memory", words, tier="ana")).is_error


async def test_who_shares_no_group_is_told_of_nobody(town: TestPortal) -> None:
    """Ben exists and Zoe does not: Ana, who shares no group with either, hears the same of both."""
    said = [(await share(town, "ana", approved_users=[name])).text for name in ("ben", "zoe")]
    assert said[0].replace("ben", "#") == said[1].replace("zoe", "#")
    people = [await town.call("find_people", {"name": each}, tier="ana") for each in ("ben", "zoe")]
    assert people[0].structured == people[1].structured
    (noa,) = (await town.call("find_people", {"name": "no"}, tier="ana")).structured["people"]
    assert (noa["name"], noa["groups"]) == ("Noa", [GARDEN])


async def test_find_people_tells_a_person_who_they_are_and_their_groups(town: TestPortal) -> None:
    told = (await town.call("find_people", {}, tier="noa")).structured
    assert told is not None
    assert (told["groups"], told["people"]) == ([GARDEN, KITCHEN], [])
    assert (await share(town, "ana", approved_users=[told["id"]])).structured["status"] == "created"
    assert await found(town, "noa")


async def named(town: TestPortal, who: str, id: str) -> list[tuple[str, str]]:
    """Whom an entry names, as its page and its tool tell its owner."""
    read = (await town.call("get_memory", {"id": id}, tier=who)).structured
    return [(each["id"], each["name"]) for each in (read or {})["named"]]


async def test_who_is_named_by_an_id_is_called_by_their_name_where_one_may_find_them(
    town: TestPortal,
) -> None:
    ids = {
        each: (await town.call("find_people", {}, tier=each)).structured["id"]
        for each in ("ana", "noa", "ben", "cy")
    }
    kept = await share(town, "ana", approved_users=list(ids.values()))
    assert await named(town, "ana", kept.structured["id"]) == [
        (ids["ana"], "Ana"),
        (ids["noa"], "Noa"),
        (ids["ben"], ids["ben"]),
        (ids["cy"], ids["cy"]),
    ]
    assert await found(town, "cy")


class Village:
    """People whom callers know by name."""

    def __init__(self, people: list[Caller]) -> None:
        self.people = people

    async def names(self, ids: Any) -> dict[str, str]:
        return {each.person or "": each.name or "" for each in self.people if each.person in ids}

    async def attribution(self, person: str) -> Attribution | None:
        return None

    async def caller(self, person: str) -> Caller | None:
        return None

    async def fellows(self, caller: Caller, name: str) -> list[Fellow]:
        return [
            Fellow(each.person or "", each.name or "", shared)
            for each in self.people
            if (shared := each.groups & caller.groups) and each.person != caller.person
        ]

    def groups(self) -> frozenset[str]:
        return frozenset({GARDEN})


GROUPS = [GARDEN, KITCHEN, "hat:1", "github_team:dao/garden", "claim:a=*", "claim:b=garden"]
NAMES = ["Ana", "Ben", "noa", "person:1", "*"]
villages = st.lists(
    st.builds(
        lambda number, name, groups: Caller(
            f"person:{number}", Tier.PUBLIC, groups=groups, name=name
        ),
        st.integers(0, 5),
        st.sampled_from(NAMES),
        st.frozensets(st.sampled_from(GROUPS)),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda each: each.person,
)
words = st.sampled_from([*GROUPS, *NAMES, "garden", "team/garden", "person:9", "a=*", "", "%"])


@given(villages, st.sampled_from(["restricted", "shared"]), st.lists(words, max_size=3))
async def test_whom_a_settled_policy_names_reads_by_it_and_else_it_is_refused(
    people: list[Caller], policy: str, named: list[str]
) -> None:
    field = "approved_users" if policy == "restricted" else "allowed_teams"
    access = AccessPolicyConfig.model_validate({"policy": policy, field: named})
    try:
        settled = await Recipients(Village(people)).resolve(access, people[0])
    except MemoryFailed:
        return
    may = readers("person:owner", settled)
    for name in named:
        ids = [each for each in people if name.casefold() in {each.person, _low(each.name)}]
        meant = [each for each in people if not may.isdisjoint(caller_keys(each))]
        if policy == "restricted":
            assert set(ids) & set(meant) or not ids
        else:
            held = {group for each in meant for group in each.groups}
            assert any(name.casefold() in group for group in held | {GARDEN})


def _low(name: str | None) -> str:
    return (name or "").casefold()


async def test_ten_thousand_groups_are_looked_through() -> None:
    many = frozenset(f"claim:groups=g{number}" for number in range(10_000))
    caller = Caller("person:1", Tier.MEMBERS, groups=many)
    access = {"policy": "shared", "allowed_teams": ["g9999", "g17"]}
    settled = await Recipients(Village([caller])).resolve(
        AccessPolicyConfig.model_validate(access), caller
    )
    assert settled.allowed_teams == ("claim:groups=g9999", "claim:groups=g17")
