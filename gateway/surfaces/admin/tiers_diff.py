"""What another ``tiers.yaml`` would change: who gains which item, and who loses it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auth import Caller, Tier
from auth.resolver import Resolver
from auth.stores import Person
from gateway.catalog.catalog import Decision
from gateway.identity.person_lookup import signed_in


@dataclass(frozen=True, slots=True)
class ItemChange:
    """An item whose tier, or whose being hidden, would change.

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
        if (old.tier, old.hidden) != (new.tier, new.hidden)
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


@dataclass(frozen=True, slots=True)
class Rules:
    """What a ``tiers.yaml`` says, of people and of items.

    Attributes:
        people: judges people by it.
        items: every item's key with what it decides, in the same order for each file.
    """

    people: Resolver
    items: Sequence[tuple[str, Decision]]

    async def of(self, person: Person) -> tuple[Caller, set[str]]:
        """Who a person is by these rules, and the items that they may use."""
        caller = (await self.people.explain(signed_in(person))).caller
        return caller, {key for key, each in self.items if caller.tier.allows(each.tier)}


def _called(person: Person) -> str:
    first = person.accounts[0]
    return person.name or first.name or first.id


async def person_change(person: Person, now: Rules, then: Rules) -> PersonChange | None:
    """What would change for somebody; None where nothing would."""
    (old, may), (new, might) = await now.of(person), await then.of(person)
    if (old.tier, old.admin, may) == (new.tier, new.admin, might):
        return None
    keys = [key for key, _ in now.items]
    return PersonChange(
        person.id,
        _called(person),
        (old.tier, old.admin),
        (new.tier, new.admin),
        tuple(key for key in keys if key in might - may),
        tuple(key for key in keys if key in may - might),
        old.degraded or new.degraded,
    )
