"""Whose a payment is: what the portal writes on everything that it makes at Stripe."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from auth.stores import Person

FindPerson = Callable[[str], Awaitable[Person | None]]
"""``await find(id)``: the person of an id; None for one who has left."""


@dataclass(frozen=True, slots=True)
class Whose:
    """Who pays, and for which account.

    Attributes:
        person: who pays.
        account: whose budget it is: theirs, or their team's.
    """

    person: str
    account: str


class Marks:
    """Writes and reads the metadata of Stripe's objects.

    Several portals may share one account of Stripe, and people may pay there for other things: what
    does not carry this portal's address is none of its business.

    Args:
        portal: the portal's address.
        find: finds people.
    """

    def __init__(self, portal: str, find: FindPerson) -> None:
        self._portal, self._find = portal, find

    def of(self, whose: Whose) -> dict[str, str]:
        """What is written on what is made for somebody."""
        return {"porch": self._portal, "person": whose.person, "account": whose.account}

    async def read(self, found: Mapping[str, Any]) -> Whose | None:
        """Whose an object is; None for another portal's, and for somebody who has left."""
        marks = found.get("metadata") or {}
        person, account = marks.get("person"), marks.get("account")
        if marks.get("porch") != self._portal or not person or not account:
            return None
        return Whose(person, account) if await self._find(person) is not None else None
