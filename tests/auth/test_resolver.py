"""Who gets which tier, and why."""

import asyncio
import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auth import Account, Identity, Tier
from auth import resolver as resolver_module
from auth.facts import Facts, SourceUnavailable
from auth.resolver import CALLER_CACHE_SIZE, JUDGEMENT_INTERVAL_S, Resolver
from auth.rules import AccessRules

ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
WALLET = Account.of_key(ADDRESS)
GITHUB = Account("github:583231", "github", name="octocat")

RULES = AccessRules.model_validate(
    {
        "members": {"any_of": [{"hat": "30.3.1"}, {"github_org": "superbenefit"}]},
        "admins": {"address": ADDRESS},
    }
)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class World:
    """A source of everything: the same value for all questions of one kind."""

    def __init__(self, **values):
        self.values = values
        self.asked = 0

    async def answers(self, questions):
        self.asked += 1
        found = {each: self.values.get(each.source) for each in questions}
        for source, value in self.values.items():
            if isinstance(value, Exception) and any(each.source == source for each in questions):
                raise value
        return found


def made(rules=RULES, clock=None, **values):
    world = World(**values)
    clock = clock or Clock()
    sources = dict.fromkeys(("hats", "tokens", "github", "passport"), world)
    return Resolver(rules, Facts(sources, clock=clock), clock), world


def person(*accounts, provider="access-token", **more):
    return Identity("person:1", provider, accounts=accounts, **more)


async def test_a_member_is_told_which_fact_made_them_one():
    resolver, _ = made(hats=True)
    caller = await resolver.resolve(person(WALLET, name="Ana"))
    assert caller.tier is Tier.MEMBERS
    assert caller.reasons == ("Members: wears the hat 30.3.1 (0x5aAe…eAed).",)
    assert caller.groups == {"hat:30.3.1"}
    assert (caller.person, caller.name, caller.degraded) == ("person:1", "Ana", False)


async def test_every_fact_that_holds_is_a_reason_and_a_group():
    resolver, _ = made(hats=True, github=True)
    caller = await resolver.resolve(person(WALLET, GITHUB))
    assert len(caller.reasons) == 2
    assert caller.groups == {"hat:30.3.1", "github_org:superbenefit"}


async def test_who_is_signed_in_and_no_member_is_public():
    resolver, _ = made(hats=False)
    caller = await resolver.resolve(person(WALLET))
    assert (caller.tier, caller.reasons) == (Tier.PUBLIC, ("Public: is signed in.",))
    assert caller.groups == frozenset()


async def test_members_have_all_that_the_public_has_whatever_its_rule_says():
    rules = AccessRules.model_validate(
        {"public": {"github": "nobody"}, "members": {"hat": "30.3.1"}}
    )
    resolver, _ = made(rules, hats=True)
    assert (await resolver.resolve(person(WALLET))).tier is Tier.MEMBERS


async def test_without_a_rule_that_holds_the_tier_is_open():
    resolver, _ = made(AccessRules.model_validate({"public": {"github": "nobody"}}))
    caller = await resolver.resolve(person(WALLET))
    assert (caller.tier, caller.reasons) == (Tier.OPEN, ("Open: no rule gives a higher tier.",))
    assert not caller.anonymous


async def test_a_person_without_accounts_is_open_even_under_a_not():
    rules = AccessRules.model_validate({"members": {"not": {"github": "banned"}}})
    resolver, _ = made(rules)
    caller = await resolver.resolve(person())
    assert (caller.tier, caller.admin) == (Tier.OPEN, False)


async def test_groups_come_from_every_rule_whichever_decided():
    rules = AccessRules.model_validate(
        {
            "public": {"any_of": ["signed_in", {"hat": "30.1"}]},
            "members": {"all_of": [{"github": "nobody"}, {"hat": "30.2"}]},
            "admins": {"not": {"hat": "30.3"}},
        }
    )
    resolver, _ = made(rules, hats=True)
    assert (await resolver.resolve(person(WALLET))).groups == {"hat:30.1", "hat:30.2", "hat:30.3"}


async def test_a_fact_that_is_unknown_leaves_the_lower_tier_and_says_so():
    resolver, _ = made(hats=SourceUnavailable("no RPC of Optimism answers"))
    caller = await resolver.resolve(person(WALLET))
    assert (caller.tier, caller.degraded) == (Tier.PUBLIC, True)
    assert caller.reasons == (
        "Public: is signed in.",
        "Members: not known now. No RPC of Optimism answers.",
    )


async def test_what_is_unknown_and_would_change_nothing_is_not_degraded():
    resolver, _ = made(hats=True, github=SourceUnavailable("GitHub does not answer"))
    assert not (await resolver.resolve(person(WALLET, GITHUB))).degraded
    resolver, _ = made(hats=SourceUnavailable("no RPC of Optimism answers"))
    limited = await resolver.resolve(person(WALLET, ceiling=Tier.PUBLIC))
    assert (limited.tier, limited.degraded) == (Tier.PUBLIC, False)


async def test_a_membership_that_is_unknown_and_would_lift_to_the_ceiling_is_degraded():
    rules = AccessRules.model_validate({"public": {"any_of": []}, "members": {"hat": "30.1"}})
    resolver, _ = made(rules, hats=SourceUnavailable("no RPC of Optimism answers"))
    caller = await resolver.resolve(person(WALLET, ceiling=Tier.PUBLIC))
    assert (caller.tier, caller.degraded) == (Tier.OPEN, True)


async def test_admins_that_are_unknown_do_not_degrade_a_member():
    rules = AccessRules.model_validate({"members": "signed_in", "admins": {"hat": "30.1"}})
    resolver, _ = made(rules, hats=SourceUnavailable("no RPC of Optimism answers"))
    caller = await resolver.resolve(person(WALLET))
    assert (caller.tier, caller.degraded, caller.admin) == (Tier.MEMBERS, False, False)


async def test_a_ceiling_lowers_the_tier_and_says_so():
    resolver, _ = made(hats=True)
    caller = await resolver.resolve(person(WALLET, provider="api-token", ceiling=Tier.PUBLIC))
    assert (caller.tier, caller.ceiling) == (Tier.PUBLIC, Tier.PUBLIC)
    assert caller.reasons[-1] == "Public only: the api token goes no higher."


async def test_a_ceiling_above_the_tier_gives_nothing():
    resolver, _ = made(hats=False)
    caller = await resolver.resolve(person(WALLET, ceiling=Tier.MEMBERS))
    assert caller.tier is Tier.PUBLIC


async def test_the_tools_of_a_credential_are_the_callers():
    resolver, _ = made(hats=True)
    caller = await resolver.resolve(person(WALLET, tools=frozenset({"get_document"})))
    assert caller.tools == {"get_document"}


@pytest.mark.parametrize("tier", Tier)
async def test_a_granted_tier_is_used_as_it_is_and_no_rule_is_asked(tier):
    resolver, world = made(hats=True)
    token = Identity("token:ci", "operator-token", granted=tier, accounts=(WALLET,))
    caller = await resolver.resolve(token)
    assert (caller.tier, caller.admin, caller.groups) == (tier, False, frozenset())
    assert caller.reasons == (f"The operator token token:ci grants {tier}.",)
    resolution = await resolver.explain(token)
    assert (resolution.granted, resolution.caller, resolution.next) == (tier, caller, None)
    assert resolution.members.because
    assert world.asked == 0


async def test_a_granted_tier_has_a_ceiling_too():
    resolver, _ = made()
    token = Identity("token:ci", "operator-token", granted=Tier.MEMBERS, ceiling=Tier.PUBLIC)
    assert (await resolver.resolve(token)).tier is Tier.PUBLIC


@pytest.mark.parametrize(
    ("provider", "admin"),
    [
        ("session", True),
        ("access-token", True),
        ("oidc", True),
        ("cloudflare-access", True),
        ("api-token", False),
        ("static-token", False),
        ("operator-token", False),
        ("acting", False),
    ],
)
async def test_only_a_credential_that_proves_the_person_makes_an_admin(provider, admin):
    resolver, _ = made(hats=False)
    assert (await resolver.resolve(person(WALLET, provider=provider))).admin is admin
    assert not (await resolver.resolve(person(GITHUB, provider=provider))).admin


@pytest.mark.parametrize("limit", [{"ceiling": Tier.PUBLIC}, {"tools": frozenset()}])
async def test_a_limited_credential_makes_no_admin(limit):
    resolver, _ = made(hats=True)
    assert not (await resolver.resolve(person(WALLET, **limit))).admin


async def test_a_resolution_says_what_the_next_tier_takes():
    resolver, _ = made(hats=False)
    resolution = await resolver.explain(person(WALLET))
    tier, verdict = resolution.next
    assert (tier, verdict.holds) == (Tier.MEMBERS, "no")
    assert resolution.caller.tier is Tier.PUBLIC
    assert resolution.admins.holds == "yes"
    resolver, _ = made(AccessRules.model_validate({"public": {"github": "octocat"}}))
    assert (await resolver.explain(person(WALLET))).next[0] is Tier.PUBLIC
    resolver, _ = made(hats=True)
    assert (await resolver.explain(person(WALLET))).next is None


async def test_a_caller_is_remembered_as_long_as_its_facts_are():
    clock = Clock()
    resolver, world = made(clock=clock, hats=True)
    ana = person(WALLET)
    first = await resolver.resolve(ana)
    assert await resolver.resolve(ana) is first
    world.values["hats"] = False
    clock.now += 300
    assert (await resolver.resolve(ana)).tier is Tier.PUBLIC


async def test_a_caller_is_judged_again_after_a_while_though_no_fact_changed(monkeypatch):
    clock = Clock()
    resolver, _ = made(clock=clock)
    ana = person(GITHUB)
    first = await resolver.resolve(ana)
    clock.now += JUDGEMENT_INTERVAL_S
    again = await resolver.resolve(ana)
    assert again == first
    assert again is not first


async def test_new_rules_count_from_the_next_call():
    resolver, _ = made(hats=True)
    ana = person(WALLET)
    assert (await resolver.resolve(ana)).tier is Tier.MEMBERS
    resolver.apply(AccessRules())
    assert (await resolver.resolve(ana)).tier is Tier.PUBLIC


async def test_rules_that_change_while_a_fact_is_awaited_are_not_mixed_up():
    resolver, world = made(hats=True)
    waiting = asyncio.Event()
    answers = world.answers

    async def slow(questions):
        await waiting.wait()
        return await answers(questions)

    world.answers = slow
    ana = person(WALLET)
    first = asyncio.create_task(resolver.resolve(ana))
    await asyncio.sleep(0)
    resolver.apply(AccessRules())
    waiting.set()
    assert (await first).tier is Tier.MEMBERS
    assert (await resolver.resolve(ana)).tier is Tier.PUBLIC


async def test_an_identity_is_never_taken_for_another_in_its_place():
    resolver, _ = made(hats=False)
    tiers = set()
    for _ in range(200):
        # Each is freed at once, so that the next may take its place in memory.
        tiers.add((await resolver.resolve(person(WALLET, ceiling=Tier.OPEN))).tier)
        tiers.add((await resolver.resolve(Identity("token:a", "x", granted=Tier.PUBLIC))).tier)
    assert tiers == {Tier.OPEN, Tier.PUBLIC}


async def test_only_so_many_callers_are_remembered(monkeypatch):
    monkeypatch.setattr(resolver_module, "CALLER_CACHE_SIZE", 3)
    resolver, _ = made(hats=True)
    people = [Identity(f"person:{number}", "session", accounts=(WALLET,)) for number in range(5)]
    first = [await resolver.resolve(each) for each in people]
    again = [await resolver.resolve(each) for each in reversed(people)]
    kept = [one is other for one, other in zip(reversed(first), again, strict=True)]
    assert kept == [True, True, True, False, False]
    assert CALLER_CACHE_SIZE > 1000


parts = st.recursive(
    st.sampled_from(
        ["signed_in", "passport_score", {"hat": "30.1"}, {"hat": "30.2"}, {"github_org": "a"}]
    ),
    lambda below: (
        st.builds(lambda of: {"any_of": of}, st.lists(below, max_size=3))
        | st.builds(lambda of: {"all_of": of}, st.lists(below, min_size=1, max_size=3))
        | st.builds(lambda part: {"not": part}, below)
    ),
    max_leaves=5,
)
values: dict[str, list[Any]] = {
    "hats": [True, False],
    "github": [True, False],
    "passport": [0.0, 50.0],
}


@settings(deadline=None)
@given(parts, parts, parts, st.sampled_from(Tier), st.data())
def test_to_know_less_never_gives_more(public, members, admins, ceiling, data):
    rules = AccessRules.model_validate({"public": public, "members": members, "admins": admins})
    known = {name: data.draw(st.sampled_from(each)) for name, each in values.items()}
    hidden = data.draw(st.sets(st.sampled_from(sorted(values))))
    less = known | dict.fromkeys(hidden, SourceUnavailable("it does not answer"))
    identity = person(WALLET, GITHUB, ceiling=ceiling)

    async def resolved(facts):
        return await made(rules, **facts)[0].resolve(identity)

    full, partial = asyncio.run(resolved(known)), asyncio.run(resolved(less))
    assert partial.tier <= full.tier <= ceiling
    assert partial.admin <= full.admin
    assert partial.groups <= full.groups
    assert not full.degraded
    assert partial.degraded or partial.tier == full.tier


@settings(deadline=None)
@given(parts, parts)
def test_a_caller_and_its_explanation_agree(public, members):
    rules = AccessRules.model_validate({"public": public, "members": members})

    async def both(facts):
        resolver, _ = made(rules, **facts)
        return await resolver.resolve(person(WALLET)), await resolver.explain(person(WALLET))

    for hats, github in itertools.product([True, False, None], repeat=2):
        caller, resolution = asyncio.run(both({"hats": hats, "github": github}))
        assert resolution.caller == caller
        assert (resolution.members.holds == "yes") is (caller.tier is Tier.MEMBERS)


async def test_the_answers_of_sources_are_given_with_when_they_were_asked():
    resolver, world = made(hats=True, github=False)
    answers = await resolver.answers(person(WALLET))
    assert {(each.source, answer.value) for each, answer in answers.items()} == {("hats", True)}
    assert all(answer.at > 0 for answer in answers.values())
    granted = person(WALLET, granted=Tier.PUBLIC)
    assert await resolver.answers(granted) == {}
    assert world.asked == 1
