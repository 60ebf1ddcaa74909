"""How every account stands in a month, for admins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auth.callers import PERSON
from gateway.budgets.accounts import ANONYMOUS, PORTAL, TEAM, Account
from gateway.budgets.figures import Figures
from gateway.budgets.months import begin_of, month_of
from gateway.errors import NotFound

if TYPE_CHECKING:
    from gateway.budgets.budgets import Budgets
    from gateway.identity.person_lookup import PersonLookup

MAX_STANDINGS = 500
"""Accounts that one look shows: those that have spent the most."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An account in a month.

    Attributes:
        id: the account's.
        account: as the plans have it now; None where they have it no more.
        figures: what it has and has spent.
    """

    id: str
    account: Account | None
    figures: Figures

    @property
    def limit(self) -> int | None:
        """All that it may spend; None for no limit."""
        return None if self.account is None else self.figures.limit(self.account.budget)

    @property
    def percent(self) -> int:
        """How much of it is spent, at most 100; 0 for no limit."""
        if self.limit is None:
            return 0
        spent = self.figures.spent
        return 100 if spent >= self.limit else 100 * spent // self.limit


async def standings(budgets: Budgets, month: str = "") -> tuple[str, Sequence[Standing]]:
    """Every account that has spent something or is a team's, the most first.

    Args:
        budgets: the budgets.
        month: which month; this one where it is empty.

    Raises:
        ValueError: it is no month.
    """
    ledger = budgets.ledger
    month = month or month_of(ledger.clock())
    begin_of(month)
    teams = [f"{TEAM}{each.team}" for each in budgets.file.plans.assign if each.team]
    spent = [account for account, _ in await ledger.accounts(month)]
    ids = list(dict.fromkeys([*spent[:MAX_STANDINGS], *teams]))
    found = [
        Standing(id, await account_by_id(budgets, id), await ledger.figures(id, month))
        for id in ids
    ]
    return month, sorted(found, key=lambda each: (-each.figures.spent, each.id))


async def account_by_id(budgets: Budgets, id: str) -> Account | None:
    """An account by its id, as the plans have it now; None where they have it no more."""
    accounts = budgets.accounts
    if id == PORTAL:
        return accounts.of_the_portal()
    if id.startswith(TEAM):
        return await accounts.of_team(id.removeprefix(TEAM))
    found = await accounts.of_person(None if id == ANONYMOUS else id)
    return found if found is not None and found.id == id else None


async def find_account(budgets: Budgets, people: PersonLookup, who: str) -> Account:
    """The account that an admin means.

    Args:
        budgets: the budgets.
        people: finds people.
        who: ``team:NAME``, ``portal``, ``anonymous``, or a person by id, address, ``github:NAME``
            or account; a person of a team means the team's.

    Raises:
        NotFound: there is none.
    """
    if not budgets.file.plans:
        raise NotFound("There are no plans here: plans.yaml has none, and nothing is limited.")
    found: Account | None
    if who in (PORTAL, ANONYMOUS) or who.startswith(TEAM):
        found = await account_by_id(budgets, who)
    elif who.startswith(("token:", "client:")):
        found = await budgets.accounts.of_person(who)
    else:
        person = await people.person(who)
        id = person.id if person is not None else ""
        found = await budgets.accounts.of_person(id) if id.startswith(PERSON) else None
    if found is None:
        raise NotFound(
            f"Nobody known here is {who}. Write a wallet's address, github:NAME, a person's id "
            "(`porch people list`), team:NAME, portal or anonymous."
        )
    return found
