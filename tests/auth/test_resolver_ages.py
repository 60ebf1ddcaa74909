"""What no longer counts because it is old, and what a resolver hands on to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from auth import Account, Identity, Tier
from auth.callers import BY_CONSENT
from auth.facts import Facts, Question, SourceUnavailable
from auth.proof_expiry import ProofExpiry
from auth.resolver import JUDGEMENT_INTERVAL_S, Resolver
from auth.rules import AccessRules

ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
NOW = datetime(2026, 11, 22, tzinfo=UTC)
SIGNED_IN_AT = 1_000.0
AGE = 60.0
STAFF = Account(
    "oidc:https://id.example.org#1", "oidc", claims={"staff": True}, dated={"staff": SIGNED_IN_AT}
)
CONTRACT = replace(Account.of_contract(10, ADDRESS), proved=NOW - timedelta(days=29))
LAPSED = replace(CONTRACT, proved=NOW - timedelta(days=31))
CLAIM = AccessRules.model_validate({"members": {"claim": {"name": "staff", "value": True}}})
LISTED = AccessRules.model_validate({"members": {"address": f"eip155:10:{ADDRESS}"}})


class Silent:
    """A source that fails with one message."""

    def __init__(self, message: str) -> None:
        self.message = message

    async def answers(self, questions: Iterable[Question]) -> Mapping[Question, Any]:
        raise SourceUnavailable(self.message)


def person(*accounts: Account, provider: str = "session") -> Identity:
    return Identity("person:1", provider, accounts=accounts)


@pytest.mark.parametrize(("later", "tier"), [(0.0, Tier.MEMBERS), (1.0, Tier.PUBLIC)])
async def test_a_claim_counts_until_it_is_too_old(later: float, tier: Tier) -> None:
    resolver = Resolver(CLAIM, Facts({}), claims_age=AGE, wall=lambda: SIGNED_IN_AT + AGE + later)
    assert (await resolver.resolve(person(STAFF))).tier is tier


async def test_a_claim_counts_for_good_where_no_age_is_set() -> None:
    resolver = Resolver(CLAIM, Facts({}), wall=lambda: SIGNED_IN_AT + 1e9)
    assert (await resolver.resolve(person(STAFF))).tier is Tier.MEMBERS


async def test_a_resolver_under_other_rules_has_all_else_from_the_first() -> None:
    wall, seconds = SIGNED_IN_AT, 0.0
    first = Resolver(
        AccessRules(),
        Facts({"hats": Silent("it sleeps")}),
        lambda: seconds,
        claims_age=AGE,
        wall=lambda: wall,
        proof_expiry=ProofExpiry(timedelta(days=30), lambda: NOW),
    )
    assert (await first.resolve(person(STAFF))).tier is Tier.PUBLIC
    other = first.under(CLAIM)
    staff = person(STAFF)
    before = await other.resolve(staff)
    assert before.tier is Tier.MEMBERS
    wall += AGE + 1
    assert await other.resolve(staff) is before
    seconds += JUDGEMENT_INTERVAL_S
    assert (await other.resolve(staff)).tier is Tier.PUBLIC
    listed = first.under(LISTED)
    assert (await listed.resolve(person(CONTRACT))).tier is Tier.MEMBERS
    assert (await listed.resolve(person(LAPSED))).tier is Tier.OPEN
    hats = first.under(AccessRules.model_validate({"members": {"hat": "30.1"}}))
    told = await hats.resolve(person(Account.of_key(ADDRESS)))
    assert told.reasons[-1] == "Members: not known now. It sleeps."


async def test_a_caller_is_judged_again_the_moment_its_time_is_up() -> None:
    seconds = 0.0
    resolver = Resolver(AccessRules(), Facts({}), lambda: seconds)
    ana = person(STAFF)
    first = await resolver.resolve(ana)
    seconds = JUDGEMENT_INTERVAL_S - 1
    assert await resolver.resolve(ana) is first
    seconds = JUDGEMENT_INTERVAL_S
    assert await resolver.resolve(ana) is not first


def test_the_accounts_that_must_sign_in_again_are_named_with_the_reason() -> None:
    expiry = ProofExpiry(timedelta(days=30), lambda: NOW)
    resolver = Resolver(AccessRules(), Facts({}), proof_expiry=expiry)
    assert resolver.stale_proofs([STAFF, CONTRACT, Account.of_key(ADDRESS)]) == {}
    (subject, why), *others = resolver.stale_proofs([STAFF, LAPSED]).items()
    assert (subject, others) == (LAPSED.subject, [])
    assert why.endswith("signed too long ago, as its owners may change, and has to sign in again")


async def test_a_proof_that_lapsed_is_told_with_its_cure() -> None:
    expiry = ProofExpiry(timedelta(days=30), lambda: NOW)
    caller = await Resolver(LISTED, Facts({}), proof_expiry=expiry).resolve(person(LAPSED))
    assert caller.sign_in_again
    assert caller.reasons[1].startswith("Members: not known now. The contract wallet 0x5aAe…eAed ")
    assert caller.reasons[1].endswith(" and has to sign in again. Sign in again.")


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("It is down...", "It is down"),
        ("...and so on X", "...and so on X"),
        ("it ends in spaces  ", "It ends in spaces  "),
    ],
)
async def test_a_sources_own_sentence_ends_with_one_full_stop(message: str, told: str) -> None:
    rules = AccessRules.model_validate({"members": {"hat": "30.1"}})
    resolver = Resolver(rules, Facts({"hats": Silent(message)}))
    caller = await resolver.resolve(person(Account.of_key(ADDRESS)))
    assert caller.reasons[-1] == f"Members: not known now. {told}."


async def test_for_a_credential_that_carries_its_tier_every_rule_is_a_plain_no() -> None:
    token = Identity("token:ci", "operator-token", granted=Tier.PUBLIC)
    resolution = await Resolver(AccessRules(), Facts({})).explain(token)
    for verdict in (resolution.public, resolution.members, resolution.admins):
        assert (verdict.rule, verdict.holds) == ("", "no")
        assert verdict.because == "no rule counts for a credential that grants public itself"


async def test_the_verdict_of_every_rule_is_told() -> None:
    resolution = await Resolver(AccessRules(), Facts({})).explain(person(STAFF))
    told = (resolution.public, resolution.members, resolution.admins)
    assert [each.holds for each in told] == ["yes", "no", "no"]


async def test_a_caller_that_came_by_consent_is_known_as_one() -> None:
    resolver = Resolver(AccessRules(), Facts({}))
    assert (await resolver.resolve(person(STAFF, provider=BY_CONSENT))).consented is True
    assert (await resolver.resolve(person(STAFF))).consented is False
