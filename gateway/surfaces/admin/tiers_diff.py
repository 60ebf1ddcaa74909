"""What another ``tiers.yaml`` would change: who gains which item, and who loses it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from auth import Caller, Tier
from auth.resolver import Resolver
from auth.stores import Person, Stores
from gateway.catalog.catalog import Catalog, Decision
from gateway.config.tiers_file import Tiers
from gateway.identity.person_lookup import signed_in

MAX_CONCURRENT_JUDGEMENTS = 100
"""People who are judged at the same time."""


@dataclass(frozen=True, slots=True)
class ItemChange:
    """An item whose tier, whose being hidden, or the yes that it waits for, would change.

    Attributes:
        item: the item's key.
        before: what is decided now.
        after: what would be decided.
    """

    item: str
    before: Decision
    after: Decision

    @property
    def gains(self) -> list[Tier]:
        """The tiers that may use it then and may not now."""
        return [tier for tier in Tier if self.after.tier <= tier < self.before.tier]

    @property
    def loses(self) -> list[Tier]:
        """The tiers that may use it now and may not then."""
        return [tier for tier in Tier if self.before.tier <= tier < self.after.tier]

    def told(self) -> dict[str, Any]:
        """It as JSON values."""
        return {
            "item": self.item,
            "before": _decided(self.before),
            "after": _decided(self.after),
            "gains": self.gains,
            "loses": self.loses,
        }


def _decided(decision: Decision) -> dict[str, Any]:
    return {
        "tier": decision.tier,
        "hidden": decision.hidden,
        "because": decision.because,
        "line": decision.line,
        "waits_for": decision.waits_for,
    }


def item_changes(
    before: Iterable[tuple[str, Decision]], after: Iterable[tuple[str, Decision]]
) -> list[ItemChange]:
    """The items that change, in the order given.

    Args:
        before: every item's key with what is decided now.
        after: the same items with what would be decided.
    """
    return [
        ItemChange(item, old, new)
        for (item, old), (_, new) in zip(before, after, strict=True)
        if (old.tier, old.hidden, old.approval) != (new.tier, new.hidden, new.approval)
    ]


@dataclass(frozen=True, slots=True)
class PersonChange:
    """Someone whose tier, or whose being an admin, would change.

    Attributes:
        person: the person's id.
        name: what to call them: their name, or else what their first account is called.
        before: their tier now, and whether they are an admin.
        after: the same under the other rules.
        gains: the items that they may use then and may not now.
        loses: the items that they may use now and may not then.
        uncertain: whether a source did not answer, so that this may be wrong.
    """

    person: str
    name: str
    before: tuple[Tier, bool]
    after: tuple[Tier, bool]
    gains: tuple[str, ...]
    loses: tuple[str, ...]
    uncertain: bool


@dataclass(frozen=True)
class Rules:
    """What a ``tiers.yaml`` says, of people and of items.

    Attributes:
        people: judges people by it.
        items: every item's key with what it decides, in the same order for each file.
    """

    people: Resolver
    items: Sequence[tuple[str, Decision]]

    @cached_property
    def usable(self) -> Mapping[Tier, frozenset[str]]:
        """The items that each tier may use."""
        return {
            tier: frozenset(key for key, each in self.items if tier.allows(each.tier))
            for tier in Tier
        }

    async def of(self, person: Person) -> Caller:
        """Who a person is by these rules."""
        return (await self.people.explain(signed_in(person))).caller


def _called(person: Person) -> str:
    first = person.accounts[0]
    return person.name or first.name or first.id


async def person_change(person: Person, now: Rules, then: Rules) -> PersonChange | None:
    """What would change for somebody; None where nothing would."""
    old, new = await now.of(person), await then.of(person)
    may, might = now.usable[old.tier], then.usable[new.tier]
    if (old.tier, old.admin, may) == (new.tier, new.admin, might):
        return None
    gained, lost = might - may, may - might
    return PersonChange(
        person.id,
        _called(person),
        (old.tier, old.admin),
        (new.tier, new.admin),
        tuple(key for key, _ in now.items if key in gained),
        tuple(key for key, _ in now.items if key in lost),
        old.degraded or new.degraded,
    )


@dataclass(frozen=True, slots=True)
class Changes:
    """What another ``tiers.yaml`` would change.

    Attributes:
        items: the items that change.
        people: the people for whom anything does.
    """

    items: Sequence[ItemChange]
    people: Sequence[PersonChange]


@dataclass(frozen=True, slots=True)
class Comparing:
    """Compares a ``tiers.yaml`` with the rules in force.

    Attributes:
        catalog: the items and what is decided for them.
        resolver: judges people.
        stores: the people.
    """

    catalog: Catalog
    resolver: Resolver
    stores: Stores

    async def changes(self, tiers: Tiers) -> Changes:
        """What the rules of a file would change; everyone who has signed in is judged by both."""
        before, after = self.catalog.decisions(), self.catalog.decisions(tiers.items)
        now, then = Rules(self.resolver, before), Rules(self.resolver.under(tiers.access), after)
        people: list[PersonChange] = []
        async for group in _together(self.stores.people.everyone()):
            judged = await asyncio.gather(*(person_change(each, now, then) for each in group))
            people += [change for change in judged if change is not None]
        return Changes(item_changes(before, after), people)


async def _together(people: AsyncIterator[Person]) -> AsyncIterator[list[Person]]:
    """People in groups, so that what a group asks of a source goes there in one request."""
    group: list[Person] = []
    async for person in people:
        group.append(person)
        if len(group) == MAX_CONCURRENT_JUDGEMENTS:
            yield group
            group = []
    yield group
