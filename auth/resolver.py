"""The only place where a tier is decided: from an identity and the rules comes a caller."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from auth.callers import BY_CONSENT, Account, Caller, Identity
from auth.claims import current
from auth.facts import Answer, Facts, Question
from auth.proof_expiry import ProofExpiry
from auth.rules import NAMES, AccessRules
from auth.rules.verdict import Resolution, Verdict, deciding
from auth.rules.wallets import stale_proof
from auth.tiers import Tier

CALLER_CACHE_SIZE = 2048
"""Callers that one process caches, least recently used first out."""
JUDGEMENT_INTERVAL_S = 60.0
"""Seconds after which a caller is judged again although no fact changed: accounts age."""

_PERSONAL = frozenset({"session", BY_CONSENT, "oidc", "cloudflare-access"})
"""Kinds of credential that prove a person's presence; only these carry an admin's rights."""


@dataclass(frozen=True, slots=True)
class _Resolved:
    identity: Identity
    questions: tuple[Question, ...]
    answers: tuple[Answer, ...]
    until: float
    caller: Caller


class Resolver:
    """Resolves identities under the rules in force.

    Args:
        rules: who has which tier.
        facts: answers questions about people.
        clock: seconds that only grow; replaced in tests.
        claims_age: seconds for which a provider's claims about a person count.
        wall: seconds since the epoch.
        proof_expiry: how long a contract wallet's proof counts.
    """

    def __init__(
        self,
        rules: AccessRules,
        facts: Facts,
        clock: Callable[[], float] = time.monotonic,
        *,
        claims_age: float = math.inf,
        wall: Callable[[], float] = time.time,
        proof_expiry: ProofExpiry | None = None,
    ) -> None:
        self._rules = rules
        self._facts = facts
        self._claims_age = claims_age
        self._wall = wall
        self._clock = clock
        self._proof_expiry = proof_expiry or ProofExpiry()
        # By id(), which stays unique while the identity is in here. The authenticator passes the
        # same object each time, and comparing identities by value would cost more.
        self._known: OrderedDict[int, _Resolved] = OrderedDict()

    def apply(self, rules: AccessRules) -> None:
        """Put new rules in force, from the next call on."""
        self._rules = rules
        self._known.clear()

    def under(self, rules: AccessRules) -> Resolver:
        """A resolver with other rules and everything else the same."""
        return Resolver(
            rules,
            self._facts,
            self._clock,
            claims_age=self._claims_age,
            wall=self._wall,
            proof_expiry=self._proof_expiry,
        )

    def stale_proofs(self, accounts: Sequence[Account]) -> Mapping[str, str]:
        """Which accounts must sign in again before rules on wallets count them, and why.

        Returns:
            The reasons by the accounts' subjects, each a part of a sentence.
        """
        judged = self._proof_expiry.of(accounts)
        return {each.subject: why for each in judged if (why := stale_proof(each))}

    def groups(self) -> frozenset[str]:
        """The groups that the rules for public and members can put people in."""
        return self._rules.groups()

    async def resolve(self, identity: Identity) -> Caller:
        """Resolve an identity to a caller."""
        known = self._known.get(id(identity))
        if known is not None and known.identity is identity and self._clock() < known.until:
            current_answers = self._facts.fresh(known.questions)
            if current_answers == known.answers:
                self._known.move_to_end(id(identity))
                return known.caller
        rules = self._rules
        resolution, answers = await self._resolution(identity)
        if rules is self._rules:  # else the answer is of rules that are no longer in force
            until = self._clock() + JUDGEMENT_INTERVAL_S
            given = tuple(answers.values())
            self._keep(_Resolved(identity, tuple(answers), given, until, resolution.caller))
        return resolution.caller

    async def explain(self, identity: Identity) -> Resolution:
        """Judge every rule for an identity."""
        return (await self._resolution(identity))[0]

    async def answers(self, identity: Identity) -> Mapping[Question, Answer]:
        """What sources say now to all that the rules ask about an identity, and how old it is."""
        return (await self._resolution(identity))[1]

    async def _resolution(self, identity: Identity) -> tuple[Resolution, Mapping[Question, Answer]]:
        rules = self._rules
        if identity.granted is not None:
            return _granted(identity, identity.granted), {}
        now = self._wall()
        accounts = self._proof_expiry.of(
            [current(each, now, self._claims_age) for each in identity.accounts]
        )
        answers = await self._facts.answers(rules.questions(accounts))
        return _judged(identity, accounts, rules, answers), answers

    def _keep(self, resolved: _Resolved) -> None:
        self._known[id(resolved.identity)] = resolved
        self._known.move_to_end(id(resolved.identity))
        if len(self._known) > CALLER_CACHE_SIZE:
            self._known.popitem(last=False)


def _granted(identity: Identity, granted: Tier) -> Resolution:
    """The resolution of a credential that carries its tier: no rule is judged."""
    tier = min(granted, identity.ceiling)
    reasons = (f"The {_spoken(identity)} {identity.person} grants {granted}.",)
    caller = _caller(identity, tier, (*reasons, *_limit(identity, granted)))
    aside = Verdict("", "no", f"no rule counts for a credential that grants {granted} itself")
    return Resolution(caller, granted, aside, aside, aside)


def _judged(
    identity: Identity,
    accounts: Sequence[Account],
    rules: AccessRules,
    answers: Mapping[Question, Answer],
) -> Resolution:
    public, members, admins = (rules.verdict(name, accounts, answers) for name in NAMES)
    by_rules, reasons = _tier(public, members)
    tier = min(by_rules, identity.ceiling)
    unknown = [
        (higher, verdict)
        for higher, verdict in ((Tier.MEMBERS, members), (Tier.PUBLIC, public))
        if verdict.holds == "unknown" and tier < min(higher, identity.ceiling)
    ]
    caller = replace(
        _caller(identity, tier, (*reasons, *_limit(identity, by_rules), *_degraded(unknown))),
        groups=frozenset().union(*_groups(public, members, admins)),
        admin=admins.holds == "yes" and _is_personal(identity),
        degraded=bool(unknown),
        sign_in_again=any(each.again for _, verdict in unknown for each in deciding(verdict)),
    )
    return Resolution(caller, None, public, members, admins)


def _tier(public: Verdict, members: Verdict) -> tuple[Tier, tuple[str, ...]]:
    """The highest tier whose rule holds, and why; members have all that the public has."""
    for tier, verdict in ((Tier.MEMBERS, members), (Tier.PUBLIC, public)):
        if verdict.holds == "yes":
            facts = dict.fromkeys(each.because for each in deciding(verdict))
            return tier, tuple(f"{tier.capitalize()}: {fact}." for fact in facts)
    return Tier.OPEN, ("Open: no rule gives a higher tier.",)


def _caller(
    identity: Identity,
    tier: Tier,
    reasons: tuple[str, ...],
) -> Caller:
    return Caller(
        person=identity.person,
        tier=tier,
        reasons=reasons,
        name=identity.name,
        tools=identity.tools,
        ceiling=identity.ceiling,
        consented=identity.provider == BY_CONSENT,
        client=identity.holder,
    )


def _limit(identity: Identity, tier: Tier) -> tuple[str, ...]:
    if tier <= identity.ceiling:
        return ()
    limit = f"{identity.ceiling.capitalize()} only: the {_spoken(identity)} goes no higher."
    return (limit,)


def _spoken(identity: Identity) -> str:
    return identity.provider.replace("-", " ")


def _degraded(unknown: list[tuple[Tier, Verdict]]) -> Iterator[str]:
    for tier, verdict in unknown:
        for fact, again in dict.fromkeys((each.because, each.again) for each in deciding(verdict)):
            # Some sources give the reason as a whole sentence.
            why = fact[:1].upper() + fact[1:].rstrip(".")
            cure = " Sign in again." if again else ""
            yield f"{tier.capitalize()}: not known now. {why}.{cure}"


def _groups(*verdicts: Verdict) -> Iterator[frozenset[str]]:
    for verdict in verdicts:
        for condition in verdict.conditions():
            yield condition.groups


def _is_personal(identity: Identity) -> bool:
    """Whether a credential carries all the rights of its person."""
    return (
        identity.provider in _PERSONAL
        and identity.ceiling is Tier.MEMBERS
        and identity.tools is None
    )
