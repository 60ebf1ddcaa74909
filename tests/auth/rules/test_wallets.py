"""Which wallets count for a rule: keys everywhere, contracts on their own chain and for a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth.callers import Account, Identity
from auth.facts import Facts
from auth.proof_expiry import ProofExpiry
from auth.resolver import Resolver
from auth.rules import AccessRules
from auth.tiers import Tier

ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
TOKEN = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
NOW = datetime(2026, 11, 22, tzinfo=UTC)
CHAINS = st.sampled_from([1, 10, 100])
RULES: Mapping[str, Any] = {
    "hat": {"hat": "30.3.1"},
    "token": {"token": {"chain": 10, "contract": TOKEN, "standard": "erc721"}},
    "address": {"address": ADDRESS},
    "address on a chain": {"address": f"eip155:10:{ADDRESS}"},
    "score": "passport_score",
}
READ_ON = {"hat": 10, "token": 10, "address": None, "address on a chain": 10, "score": None}


class Generous:
    """A source that says yes to everyone, and that hats are read on chain 10."""

    async def answers(self, questions: Any) -> Any:
        yes = {"hats": True, "tokens": 1, "passport": 99.0}
        return {each: 10 if each.key == ("chain",) else yes[each.source] for each in questions}


def resolver(rule: Any) -> Resolver:
    rules = AccessRules.model_validate({"members": rule})
    sources = dict.fromkeys(("hats", "tokens", "passport"), Generous())
    return Resolver(
        rules, Facts(sources), proof_expiry=ProofExpiry(timedelta(days=30), lambda: NOW)
    )


def proved(account: Account, days: float = 0) -> Account:
    return replace(account, proved=NOW - timedelta(days=days))


ACCOUNTS = st.one_of(
    st.just(Account.of_key(ADDRESS)),
    st.just(Account(f"wallet:{ADDRESS}", "wallet")),
    CHAINS.map(lambda chain: Account.of_contract(chain, ADDRESS)),
)


@given(
    rule=st.sampled_from(sorted(RULES)),
    accounts=st.lists(st.tuples(ACCOUNTS, st.sampled_from([0, 29, 30, 400])), max_size=4),
)
async def test_nobody_is_a_member_but_by_a_key_or_a_late_proof_on_the_rules_chain(
    rule: str, accounts: list[tuple[Account, int]]
) -> None:
    theirs = tuple(proved(*each) for each in accounts)
    caller = await resolver(RULES[rule]).resolve(Identity("person:1", "session", accounts=theirs))
    counts = any(
        account.signer == "key"
        or (account.signer == "contract" and account.chain == READ_ON[rule] and days < 30)
        for account, days in accounts
    )
    lasting = any(account.signer != "contract" or days < 30 for account, days in accounts)
    expected = Tier.MEMBERS if counts else Tier.PUBLIC if lasting else Tier.OPEN
    assert caller.tier is expected


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
async def test_a_not_gives_nothing_to_whose_only_account_has_lapsed(rule: Any) -> None:
    lapsed = proved(Account.of_contract(10, ADDRESS), days=30)
    caller = await resolver({"not": rule}).resolve(
        Identity("person:1", "session", accounts=(lapsed,))
    )
    assert caller.tier is Tier.OPEN


async def test_why_a_wallet_does_not_count_and_what_to_do_is_said() -> None:
    judge = resolver(RULES["hat"])
    for account, said in (
        (Account(f"wallet:{ADDRESS}", "wallet"), "has to sign in once more"),
        (proved(Account.of_contract(10, ADDRESS), 31), "has to sign in again"),
        (proved(Account.of_contract(1, ADDRESS)), "keys and contracts on chain 10 do"),
    ):
        judged = await judge.explain(Identity("person:1", "session", accounts=(account,)))
        assert any(said in each.because for each in judged.members.conditions())
        waits = "sign in" in said
        assert judged.caller.sign_in_again is waits
        assert any("Sign in again" in each for each in judged.caller.reasons) is waits


async def test_where_hats_are_read_is_not_known_no_contract_counts() -> None:
    rules = AccessRules.model_validate({"members": RULES["hat"]})
    contract = replace(Account.of_contract(10, ADDRESS), proved=datetime.now(UTC))
    caller = await Resolver(rules, Facts({})).resolve(
        Identity("person:1", "session", accounts=(contract,))
    )
    assert caller.tier is Tier.PUBLIC
    assert caller.degraded


async def test_a_contract_whose_time_of_proof_is_unknown_has_lapsed() -> None:
    (account,) = ProofExpiry().of([Account.of_contract(10, ADDRESS)])
    assert account.lapsed


@pytest.mark.parametrize(
    "address", ["eip155:0:" + ADDRESS, "eip155:10:0x12", "solana:1:" + ADDRESS]
)
def test_an_address_on_no_chain_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="must be an address"):
        AccessRules.model_validate({"members": {"address": address}})
