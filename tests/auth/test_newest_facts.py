"""Over random sequences of credentials nobody has a tier that the newest facts do not give."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auth.account_service import AccountService
from auth.authenticator import Authenticator
from auth.callers import Account
from auth.facts import Facts, Question
from auth.issuers import oidc_claims
from auth.issuers.jwks import Jwks
from auth.proof_expiry import ProofExpiry
from auth.resolver import Resolver
from auth.revocations import Revocations
from auth.rules import AccessRules
from auth.stores import Stores
from auth.tiers import Tier
from auth.tokens.api_tokens import ApiTokens
from auth.tokens.external_tokens import ExternalTokens
from tests.auth.clocks import Clock
from tests.auth.stores import empty_stores
from tests.examples import examples
from tests.servers.identity_provider import IdentityProvider

DAY_S = 86_400.0
AGE_S = 30 * DAY_S
RULES = AccessRules.model_validate(
    {"members": {"any_of": [{"claim": {"name": "groups", "value": "staff"}}, {"hat": "30.3.1"}]}}
)
GROUPS: list[list[str] | None] = [None, [], ["staff"], ["*"], ["other", "staff"]]
HATS_CHAIN = 10
_numbers = count()


def _moment(clock: Clock) -> datetime:
    return datetime.fromtimestamp(clock(), UTC)


@dataclass
class Hats:
    """Who wears the hat on the chain on which hats are read."""

    wearers: set[str] = field(default_factory=set)

    async def answers(self, questions: Sequence[Question]) -> Mapping[Question, Any]:
        return {
            each: HATS_CHAIN if each.key[0] == "chain" else each.key[1] in self.wearers
            for each in questions
        }


@dataclass
class Portal:
    """The real parts that say who somebody is, over a real database and two real issuers."""

    issuers: list[IdentityProvider]
    stores: Stores
    runner: asyncio.Runner
    clock: Clock
    hats: Hats = field(default_factory=lambda: Hats())

    def __post_init__(self) -> None:
        self.revocations = Revocations(self.stores.revocations)
        self.accounts = AccountService(self.stores, self.revocations)
        self.api_tokens = ApiTokens(self.stores.tokens, self.stores.people, self.revocations)
        facts = Facts({"hats": self.hats}, believed=0)
        proof_expiry = ProofExpiry(timedelta(seconds=AGE_S), partial(_moment, self.clock))
        resolver = Resolver(
            RULES, facts, claims_age=AGE_S, wall=self.clock, proof_expiry=proof_expiry
        )
        self.verifiers = [
            ExternalTokens(
                each.issuer,
                "portal",
                Jwks(f"{each.issuer}/jwks"),
                ("RS256",),
                self.accounts.recognise,
                self.clock,
            )
            for each in self.issuers
        ]
        self.authenticator = Authenticator(
            resolver, self.revocations, [*self.verifiers, self.api_tokens]
        )
        self.resolver = resolver
        self.runner.run(self.revocations.begin())

    async def tier(self, token: str) -> Tier:
        # What was resolved is looked at again after a minute; here days pass in no time.
        self.resolver.apply(RULES)
        headers = [(b"authorization", f"Bearer {token}".encode())]
        return (await self.authenticator.caller(headers, "/mcp")).tier


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    with asyncio.Runner() as runner, IdentityProvider() as one, IdentityProvider() as other:
        clock = Clock(float(int(datetime.now(UTC).timestamp())))
        opening = empty_stores(tmp_path_factory.mktemp("stores"), partial(_moment, clock))
        stores = runner.run(opening.__aenter__())
        made = Portal([one, other], stores, runner, clock)
        try:
            yield made
        finally:
            runner.run(made.api_tokens.settled())
            runner.run(opening.__aexit__(None, None, None))


@dataclass
class Said:
    """A word of an issuer, as the model knows it."""

    issuer: int
    at: float | None
    groups: list[str] | None
    token: str = ""


@dataclass
class Model:
    """What the newest facts give, told a second time and differently."""

    heard: list[Said] = field(default_factory=list)

    def is_member(self, issuer: int, now: float, own: Said | None = None) -> bool:
        """Whether a request at a moment is a member's."""
        words = [
            (each.at, each.groups)
            for each in self.heard
            if each.issuer == issuer and each.groups is not None and each.at is not None
        ]
        if not words:
            undated = own is not None and own.at is None
            return undated and own is not None and "staff" in (own.groups or [])
        newest = max(at for at, _ in words)
        last = [groups for at, groups in words if at == newest]
        return now - newest <= AGE_S and all("staff" in groups for groups in last)


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("new"),
            st.integers(0, 1),
            st.sampled_from([None, -3000, -300, -299, -1, 0, 0, 50]),
            st.sampled_from(GROUPS),
        ),
        st.tuples(st.just("again"), st.integers(0, 9)),
        st.tuples(st.just("sign in"), st.integers(0, 1), st.sampled_from(GROUPS)),
        st.tuples(st.just("pass"), st.sampled_from([1.0, 60.0, DAY_S, 29 * DAY_S, 31 * DAY_S])),
    ),
    min_size=2,
    max_size=9,
)


@settings(max_examples=examples(60))
@given(STEPS)
def test_nobody_has_a_tier_that_the_newest_facts_do_not_give(
    portal: Portal, steps: list[Any]
) -> None:
    portal.runner.run(_walked(portal, steps))


async def _walked(portal: Portal, steps: list[Any]) -> None:
    subject, model = f"ana-{next(_numbers)}", Model()
    made: list[Said] = []
    api: dict[int, str] = {}
    for step, *how in steps:
        if step == "pass":
            portal.clock.pass_(how[0])
        elif step == "sign in":
            word = Said(how[0], portal.clock(), how[1])
            model.heard.append(word)
            await _sign_in(portal, subject, word)
        elif step == "new" or made:
            word = _minted(portal, subject, *how) if step == "new" else made[how[0] % len(made)]
            made += [word] if step == "new" else []
            model.heard.append(word)
            tier = await portal.tier(word.token)
            assert (tier is Tier.MEMBERS) == model.is_member(word.issuer, portal.clock(), word)
        for issuer in (0, 1):
            await _check_kept(portal, subject, issuer, model, api)


async def _check_kept(
    portal: Portal, subject: str, issuer: int, model: Model, api: dict[int, str]
) -> None:
    """What the person's API token may do, which asks no issuer."""
    if not any(each.issuer == issuer for each in model.heard):
        return
    if issuer not in api:
        name = f"oidc:{portal.issuers[issuer].issuer}#{subject}"
        api[issuer] = await _api_token(portal, name)
    tier = await portal.tier(api[issuer])
    assert (tier is Tier.MEMBERS) == model.is_member(issuer, portal.clock())


async def _api_token(portal: Portal, subject: str) -> str:
    person = await portal.stores.people.by_subject(subject)
    assert person is not None
    expires = datetime.now(UTC) + timedelta(days=1)
    limits: dict[str, Any] = {"ceiling": Tier.MEMBERS, "expires": expires}
    return (await portal.api_tokens.create(person.id, "laptop", **limits))[1]


async def _sign_in(portal: Portal, subject: str, word: Said) -> None:
    claims = {"sub": subject} | ({} if word.groups is None else {"groups": word.groups})
    issuer = portal.issuers[word.issuer].issuer
    await portal.accounts.sign_in(oidc_claims.account(issuer, claims, at=word.at))


def _minted(
    portal: Portal, subject: str, issuer: int, ago: float | None, groups: list[str] | None
) -> Said:
    at = None if ago is None else portal.clock() + ago
    claims = {"iat": at, "exp": int(portal.clock() + 400 * DAY_S), "groups": groups}
    return Said(issuer, at, groups, portal.issuers[issuer].mint(claims, subject=subject))


WALLET_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("sign"), st.sampled_from([None, 1, HATS_CHAIN])),
        st.tuples(st.just("wears"), st.booleans()),
        st.tuples(st.just("pass"), st.sampled_from([60.0, DAY_S, 29 * DAY_S, 31 * DAY_S])),
    ),
    min_size=2,
    max_size=8,
)


@settings(max_examples=examples(40))
@given(WALLET_STEPS)
def test_a_wallet_has_a_tier_only_by_its_key_or_a_late_proof_on_the_chain_of_the_hat(
    portal: Portal, steps: list[Any]
) -> None:
    portal.runner.run(_signed(portal, steps))


async def _signed(portal: Portal, steps: list[Any]) -> None:
    """One address signs as a key, and as a contract on two chains: three people who never mix."""
    address, wears = f"0x{next(_numbers):040x}", False
    proved: dict[int | None, float] = {}
    api: dict[int | None, str] = {}
    for step, how in steps:
        if step == "pass":
            portal.clock.pass_(how)
        elif step == "wears":
            wears = how
            portal.hats.wearers = {address} if wears else set()
        else:
            account = Account.of_contract(how, address) if how else Account.of_key(address)
            await portal.accounts.sign_in(account)
            proved[how] = portal.clock()
            api[how] = api.get(how) or await _api_token(portal, account.subject)
        for chain, token in api.items():
            late = chain is None or portal.clock() - proved[chain] < AGE_S
            expected = wears and late and chain in {None, HATS_CHAIN}
            assert (await portal.tier(token) is Tier.MEMBERS) == expected
