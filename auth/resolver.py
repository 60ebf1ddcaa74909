"""The only place where a tier is decided: an identity and the rules give a caller."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from auth.callers import BY_CONSENT, Account, Caller, Identity
from auth.claims import current
from auth.facts import Answer, Facts, Question
from auth.rules import NAMES, AccessRules
from auth.rules.wallets import set_aside
from auth.standing import Standing
from auth.tiers import Tier
from auth.verdicts import Resolution, Verdict, deciding

KEPT = 2048
"""Callers that one process remembers; the longest unused is forgotten first."""
LOOKED_AT_AGAIN = 60.0
"""Seconds after which a caller is judged again though no fact changed: accounts grow older."""

_PERSONAL = frozenset({"session", BY_CONSENT, "oidc", "cloudflare-access"})
"""Kinds of credential that prove the person is there; only these carry an admin's rights."""


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
        facts: what others know about people.
        clock: seconds that only grow; replaced in tests.
        claims_age: seconds for which what a provider said of somebody counts.
        wall: seconds since the epoch.
        standing: how long a contract wallet's proof counts.
    """

    def __init__(
        self,
        rules: AccessRules,
        facts: Facts,
        clock: Callable[[], float] = time.monotonic,
        *,
        claims_age: float = math.inf,
        wall: Callable[[], float] = time.time,
        standing: Standing | None = None,
    ) -> None:
        self._rules = rules
        self._facts = facts
        self._claims_age = claims_age
        self._wall = wall
        self._clock = clock
        self._standing = standing or Standing()
        # By the identity's place in memory, which nothing else takes while it is kept here: the
        # authenticator hands over the same one again, and to compare them would cost more.
        self._known: OrderedDict[int, _Resolved] = OrderedDict()

    def apply(self, rules: AccessRules) -> None:
        """Put new rules in force, from the next call on."""
        self._rules = rules
        self._known.clear()

    def under(self, rules: AccessRules) -> Resolver:
        """A resolver that judges by other rules, and all else alike."""
        return Resolver(
            rules,
            self._facts,
            self._clock,
            claims_age=self._claims_age,
            wall=self._wall,
            standing=self._standing,
        )

    def set_aside(self, accounts: Sequence[Account]) -> Mapping[str, str]:
        """Which accounts must sign in again before rules on wallets count them, and why.

        Returns:
            The reasons by the accounts' subjects, each a part of a sentence.
        """
        standing = self._standing.of(accounts)
        return {each.subject: why for each in standing if (why := set_aside(each))}

    def groups(self) -> frozenset[str]:
        """The groups that the rules for the public and the members tier can put somebody in."""
        return self._rules.groups()

    async def resolve(self, identity: Identity) -> Caller:
        """Resolve an identity to a caller."""
        known = self._known.get(id(identity))
        if known is not None and known.identity is identity and self._clock() < known.until:
            answers = self._facts.fresh(known.questions)
            if answers == known.answers:
                self._known.move_to_end(id(identity))
                return known.caller
        return await self._resolve(identity)

    async def explain(self, identity: Identity) -> Resolution:
        """Judge every rule for an identity."""
        return (await self._resolution(identity))[0]

    async def _resolve(self, identity: Identity) -> Caller:
        rules = self._rules
        resolution, answers = await self._resolution(identity)
        if rules is self._rules:
            until = self._clock() + LOOKED_AT_AGAIN
            given = tuple(answers.values())
            self._keep(_Resolved(identity, tuple(answers), given, until, resolution.caller))
        return resolution.caller

    async def _resolution(self, identity: Identity) -> tuple[Resolution, Mapping[Question, Answer]]:
        rules = self._rules
        if identity.granted is not None:
            return _granted(identity, identity.granted), {}
        now = self._wall()
        accounts = self._standing.of(
            [current(each, now, self._claims_age) for each in identity.accounts]
        )
        answers = await self._facts.answers(rules.questions(accounts))
        return _judged(identity, accounts, rules, answers), answers

    def _keep(self, resolved: _Resolved) -> None:
        self._known[id(resolved.identity)] = resolved
        self._known.move_to_end(id(resolved.identity))
        if len(self._known) > KEPT:
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
    caller = _caller(
        identity,
        tier,
        (*reasons, *_limit(identity, by_rules), *_degraded(unknown)),
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
    groups: frozenset[str] = frozenset(),
    admin: bool = False,
    degraded: bool = False,
    sign_in_again: bool = False,
) -> Caller:
    return Caller(
        person=identity.person,
        tier=tier,
        reasons=reasons,
        groups=groups,
        admin=admin,
        name=identity.name,
        tools=identity.tools,
        ceiling=identity.ceiling,
        degraded=degraded,
        sign_in_again=sign_in_again,
        consented=identity.provider == BY_CONSENT,
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
            # Some sources say why in a sentence of their own.
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
