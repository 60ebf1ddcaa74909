from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import ANONYMOUS, Caller, Tier
from plugins.knowledge.memory.model.policy import AccessPolicy, AccessPolicyConfig, readers
from plugins.knowledge.memory.rights.access import (
    caller_keys,
    intersect_keys,
    is_addressed,
    lost_readers,
    meet_only_within,
)

PEOPLE = ["person:ana", "person:ben", "person:cy", "ana"]
GROUPS = ["garden", "hat:1", "person:ana", "tier:members"]
callers = st.builds(
    Caller,
    person=st.none() | st.sampled_from(PEOPLE),
    tier=st.sampled_from(Tier),
    groups=st.frozensets(st.sampled_from(GROUPS)),
)
policies = st.builds(
    AccessPolicyConfig,
    policy=st.sampled_from(AccessPolicy),
    approved_users=st.lists(st.sampled_from(PEOPLE), max_size=2).map(tuple),
    allowed_teams=st.lists(st.sampled_from(GROUPS), max_size=2).map(tuple),
)


def may_read(caller: Caller, owner: str, access: AccessPolicyConfig) -> bool:
    """What the protocol says in words, said once more."""
    if caller.person is None or caller.tier is Tier.OPEN:
        return False
    if caller.person == owner:
        return True
    return {
        AccessPolicy.PRIVATE: False,
        AccessPolicy.RESTRICTED: caller.person in access.approved_users,
        AccessPolicy.SHARED: not caller.groups.isdisjoint(access.allowed_teams),
        AccessPolicy.ORGANIZATION: caller.tier is Tier.MEMBERS,
        AccessPolicy.PUBLIC: True,
    }[access.policy]


@given(callers, st.sampled_from(PEOPLE), policies)
def test_a_caller_shares_a_key_with_an_entry_exactly_where_its_policy_lets_them_read(
    caller: Caller, owner: str, access: AccessPolicyConfig
) -> None:
    shared = caller_keys(caller) & readers(owner, access)
    assert bool(shared) == may_read(caller, owner, access)


def test_nobody_reads_anything_without_signing_in() -> None:
    assert caller_keys(ANONYMOUS) == frozenset()


@given(policies)
def test_a_group_that_is_named_like_a_person_or_a_tier_opens_nothing_of_theirs(
    access: AccessPolicyConfig,
) -> None:
    caller = Caller("person:zed", Tier.PUBLIC, groups=frozenset({"person:ana", "tier:members"}))
    private = AccessPolicyConfig(policy=AccessPolicy.PRIVATE)
    members = AccessPolicyConfig(policy=AccessPolicy.ORGANIZATION)
    assert not caller_keys(caller) & readers("person:ana", private)
    assert not caller_keys(caller) & readers("person:ana", members)


@given(callers, st.sampled_from(PEOPLE), policies)
def test_a_higher_tier_never_reads_less(
    caller: Caller, owner: str, access: AccessPolicyConfig
) -> None:
    higher = Caller(caller.person, Tier.MEMBERS, groups=caller.groups)
    assert caller_keys(caller) <= caller_keys(higher)


reader_keys = st.frozensets(
    st.sampled_from(["tier:public", "tier:members", "person:ana", "group:garden"])
)


@given(callers, reader_keys, reader_keys)
def test_who_holds_a_key_of_both_holds_one_of_each(
    caller: Caller, some: frozenset[str], others: frozenset[str]
) -> None:
    if caller_keys(caller) & intersect_keys(some, others):
        assert caller_keys(caller) & some
        assert caller_keys(caller) & others
    assert intersect_keys(some, others) == intersect_keys(others, some)


def test_of_two_sets_of_readers_the_narrower_keys_stay() -> None:
    ana, garden, anyone = {"person:ana"}, {"group:garden", "person:ana"}, {"tier:public"}
    assert intersect_keys(garden, ana) == ana
    assert intersect_keys(garden, anyone) == intersect_keys(anyone, garden) == garden
    assert intersect_keys({"tier:members"}, {"group:garden"}) == frozenset()


@given(reader_keys, reader_keys, reader_keys)
def test_that_an_entry_is_lost_is_told_to_just_those_who_could_read_it_and_cannot(
    before: frozenset[str], now: frozenset[str], held: frozenset[str]
) -> None:
    could, can = bool(before & held), bool(now & held)
    assert is_addressed(lost_readers(before, now), held) == (could and not can)


@given(
    *(st.frozensets(st.sampled_from(["person:ana", "person:ben", "group:garden", "tier:members"])),)
    * 3,
    callers,
)
def test_who_meets_only_within_a_third_set_of_keys_reads_by_that(
    some: frozenset[str], others: frozenset[str], third: frozenset[str], caller: Caller
) -> None:
    held = caller_keys(caller)
    if meet_only_within(some, others, third) and held & some and held & others:
        assert held & third


def test_a_group_and_the_members_meet_outside_of_one_persons_own() -> None:
    assert not meet_only_within({"group:garden"}, {"tier:members"}, {"person:ana"})
    assert meet_only_within({"person:ana"}, {"person:ben"}, {"person:cy"})
    assert meet_only_within({"person:ana"}, {"group:garden"}, {"tier:public"})
