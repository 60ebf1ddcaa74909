from hypothesis import given
from hypothesis import strategies as st

from auth import Tier

tiers = st.sampled_from(Tier)


def test_the_ladder_is_open_then_public_then_members():
    assert sorted([Tier.MEMBERS, Tier.OPEN, Tier.PUBLIC]) == [
        Tier.OPEN,
        Tier.PUBLIC,
        Tier.MEMBERS,
    ]


@given(tiers, tiers)
def test_a_caller_may_use_what_asks_for_no_more_than_they_have(caller: Tier, required: Tier):
    assert caller.allows(required) == (required <= caller) == (caller >= required)


@given(tiers, tiers, tiers)
def test_a_higher_tier_never_loses_anything(lower: Tier, higher: Tier, required: Tier):
    if lower <= higher and lower.allows(required):
        assert higher.allows(required)


@given(tiers, tiers)
def test_comparison_is_by_place_and_not_by_spelling(a: Tier, b: Tier):
    assert (a < b) == (a.level < b.level)
    assert (a > b) == (b < a)
