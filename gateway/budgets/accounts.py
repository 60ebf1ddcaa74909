"""Whose budget a call of a model is counted against: the plan that the rules give its caller."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple

from auth import Caller
from auth.callers import PERSON
from auth.resolver import Resolver
from auth.rules import AccessRules
from auth.stores import People
from gateway.config.plans_file import Assignment, Plan, Plans
from gateway.identity.person_lookup import signed_in

ANONYMOUS, PORTAL = "anonymous", "portal"
"""The account that all callers who are signed out share, and that of the portal's own work."""
TEAM = "team:"
"""How the id of a team's account begins."""
JUDGED_SECONDS = 60.0
"""Seconds for which a plan that was found counts, before the rules are asked again."""
_MOST_KNOWN = 4096


@dataclass(frozen=True, slots=True)
class Account:
    """Whose budget it is.

    Attributes:
        id: the person's id, ``team:NAME``, ``anonymous`` or ``portal``.
        plan: the plan's name.
        terms: the plan.
        seats: how many seats a team has; 1 for everybody else.
        doubtful: whether a rule before this one's line could not be judged now.
    """

    id: str
    plan: str
    terms: Plan
    seats: int = 1
    doubtful: bool = False

    @property
    def budget(self) -> int | None:
        """What it may spend in a month, in billionths of a dollar, without credits; None: any."""
        return None if self.terms.budget is None else self.terms.budget * self.seats

    @property
    def team(self) -> str | None:
        """The team's name, where it is one's."""
        return self.id.removeprefix(TEAM) if self.id.startswith(TEAM) else None


class Paid(NamedTuple):
    """A plan that is paid for: its name, and for how many seats."""

    plan: str
    seats: int


PaidPlan = Callable[[str], Awaitable[Paid | None]]
"""``await paid(account)``: the plan that is paid for, for a person's or a team's account."""


class Accounts:
    """Finds accounts.

    Args:
        plans: the plans in force.
        resolver: judges people by rules.
        people: who has signed in, with which accounts.
        clock: seconds that only grow; replaced in tests.

    Attributes:
        paid: says which plan is paid for; None where nothing can be paid.
    """

    def __init__(
        self,
        plans: Callable[[], Plans],
        resolver: Resolver,
        people: People,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plans, self._resolver, self._people, self._clock = plans, resolver, people, clock
        self._known: OrderedDict[str, tuple[float, Plans, Account]] = OrderedDict()
        self.paid: PaidPlan | None = None

    def forget(self) -> None:
        """Judge everybody anew when they next call: what they pay for has changed."""
        self._known.clear()

    async def of(self, caller: Caller | None) -> Account | None:
        """The account of a caller; of the portal's own where there is none.

        Returns:
            None where nothing is limited.
        """
        if caller is None:
            return self.of_the_portal()
        return await self.of_person(caller.person)

    def of_the_portal(self) -> Account | None:
        """The account of what the portal does for itself; None where it has no plan."""
        plans = self._plans()
        return None if plans.portal is None else _account(PORTAL, plans.portal, plans)

    async def of_team(self, name: str) -> Account | None:
        """A team's account; None where no line names the team."""
        plans = self._plans()
        for each in plans.assign:
            if each.team == name:
                return await self._of_line(each, "", plans)
        return None

    async def of_person(self, person: str | None) -> Account | None:
        """The account of a person by their id; of all who are signed out where that is None."""
        plans = self._plans()
        if not plans:
            return None
        who = person or ANONYMOUS
        known = self._known.get(who)
        if known is not None and known[1] is plans and self._clock() < known[0]:
            self._known.move_to_end(who)
            return known[2]
        account = await self._judged(who, plans)
        self._known[who] = self._clock() + JUDGED_SECONDS, plans, account
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return account

    async def _judged(self, who: str, plans: Plans) -> Account:
        found = await self._people.get(who) if who.startswith(PERSON) else None
        doubtful = False
        if found is not None:
            own = await self._paid(who, plans)
            if own is not None:
                return own
            identity = signed_in(found)
            for each in plans.assign:
                resolver = self._resolver.under(AccessRules(members=each.to))
                holds = (await resolver.explain(identity)).members.holds
                if holds == "yes":
                    return await self._of_line(each, who, plans, doubtful=doubtful)
                doubtful = doubtful or holds == "unknown"
        return _account(who, plans.default, plans, doubtful=doubtful)

    async def _of_line(
        self, line: Assignment, who: str, plans: Plans, *, doubtful: bool = False
    ) -> Account:
        """The account that a line of ``assign`` gives; what a team pays for comes before it."""
        if line.team is None:
            return _account(who, line.plan, plans, doubtful=doubtful)
        id = f"{TEAM}{line.team}"
        paid = await self._paid(id, plans, doubtful=doubtful)
        return paid or _account(id, line.plan, plans, line.seats or 1, doubtful=doubtful)

    async def _paid(self, id: str, plans: Plans, *, doubtful: bool = False) -> Account | None:
        """The account under the plan that is paid for; None where none is, or it is no more."""
        paid = None if self.paid is None else await self.paid(id)
        terms = None if paid is None else plans.plans.get(paid.plan)
        if paid is None or terms is None or terms.per_seat != id.startswith(TEAM):
            return None
        seats = paid.seats if terms.per_seat else 1
        return _account(id, paid.plan, plans, seats, doubtful=doubtful)


def _account(
    id: str, plan: str, plans: Plans, seats: int = 1, *, doubtful: bool = False
) -> Account:
    return Account(id, plan, plans.plans[plan], seats, doubtful)
