"""Why somebody may use something: for `porch explain`, and for the page that says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auth import Caller
from auth.facts import Answer, Question
from auth.resolver import Resolver
from auth.rules.verdict import Resolution
from auth.stores import Stores
from auth.tiers import Tier
from gateway.catalog.catalog import Catalog, Explanation
from gateway.catalog.items import Item
from gateway.catalog.missing_items import Absences, Explained
from gateway.contract import Absent
from gateway.contract.suggestions import near
from gateway.errors import NotFound
from gateway.identity.person_lookup import PersonLookup


@dataclass(frozen=True, slots=True)
class Judged:
    """An item for a caller.

    Attributes:
        key: what records call the item.
        kind: the item's kind, or ``row``.
        why: why they may use it, or may not.
        item: the item; None for a row.
    """

    key: str
    kind: str
    why: Explanation
    item: Item | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """The whole chain from who somebody is to whether they may.

    Attributes:
        caller: who they would be if they called now.
        resolution: how the rules judge them; None for nobody in particular.
        items: the items of the name that was asked for.
        absent: what of that name is not served, and why.
    """

    caller: Caller
    resolution: Resolution | None
    items: Sequence[Judged]
    absent: Sequence[Explained]


class Explaining:
    """Explains.

    Args:
        catalog: the items and what is decided for them.
        absences: what callers do not see, and why.
        resolver: judges people.
        stores: the people.
    """

    def __init__(
        self, catalog: Catalog, absences: Absences, resolver: Resolver, stores: Stores
    ) -> None:
        self._catalog, self._absences, self._resolver = catalog, absences, resolver
        self.people = PersonLookup(stores, resolver)

    async def chain(self, who: str, name: str) -> Chain:
        """Why somebody may use the items of a name, or only who they are where it is empty.

        Args:
            who: as :meth:`gateway.identity.person_lookup.PersonLookup.caller` takes it.
            name: an item's name, URI or key, or a row's key.

        Raises:
            NotFound: there is nobody, or nothing, of that name.
        """
        caller, resolution = await self.people.caller(who)
        items = [
            Judged(item.key, item.kind, self._catalog.explain(item, caller), item)
            for item in (self._catalog.named(name) if name else ())
        ]
        if name and (row := self._catalog.explain_row(name, caller)):
            items.append(Judged(name, "row", row))
        absent = await self._absences.about(name, caller) if name else []
        if name and not items and not absent:
            raise NotFound(await self._unknown(name, caller))
        return Chain(caller, resolution, items, absent)

    async def answers(self, who: str) -> Mapping[Question, Answer]:
        """What sources say of somebody, to all that the rules ask; nothing for nobody."""
        if who == "anonymous" or who in set(Tier):
            return {}
        return await self._resolver.answers(await self.people.identity(who))

    async def _unknown(self, name: str, caller: Caller) -> str:
        items: list[Item | Absent] = [*self._catalog.items()]
        items += [each.absent for each in await self._absences.explained(caller)]
        names = {each.key for each in items} if "/" in name else {each.name for each in items}
        if found := near(name, names):
            return f"Nothing here is called {name}. Near it: {', '.join(found)}."
        return f"Nothing here is called {name}; `porch tools --all` lists what there is."
