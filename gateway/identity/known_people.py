"""Whom a caller may know of: the people they share a group with, by name, and the groups there are.

Nothing here tells who belongs to a group that the caller does not belong to, or that somebody
exists whom they share none with: only whoever has a person's id, which is random, may ask whether
it is somebody's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from heapq import nlargest

from auth import Caller
from auth.resolver import Resolver
from auth.stores import Person, Stores
from gateway.contract.people import Attribution, Fellow
from gateway.errors import NotFound
from gateway.identity.person_lookup import PersonLookup, signed_in

MIN_SIMILARITY = 0.6
"""How alike two names are, from 0 to 1, from which on one is shown for the other."""
_GITHUB, _NOREPLY = "github", "users.noreply.github.com"
MAX_SIMILAR_PEOPLE = 20
"""People whose names come near one that are looked at for it."""


class KnownPeople:
    """The people who have signed in.

    Args:
        stores: who has.
        resolver: decides their groups.
    """

    def __init__(self, stores: Stores, resolver: Resolver) -> None:
        self._stores, self._resolver = stores, resolver
        self._lookup = PersonLookup(stores, resolver)

    async def names(self, ids: Collection[str]) -> Mapping[str, str]:
        """As :meth:`People.names`; operator's tokens are people of their own."""
        # PostgreSQL takes no NUL, and no half of a character.
        possible = {id for id in ids if id.isascii() and id.isprintable()}
        people = await self._stores.people.several(possible) if possible else []
        found = {each.id: each.name or each.id for each in people}
        if any(id.startswith("token:") for id in ids):
            tokens = await self._stores.tokens.operators()
            found |= {each.person: each.name for each in tokens if each.person in ids}
        return found

    async def attribution(self, person: str) -> Attribution | None:
        """As :meth:`People.attribution`."""
        named = await self.names([person])
        if person not in named:
            return None
        known = await self._stores.people.get(person)
        of_github = [each for each in (known.accounts if known else ()) if each.provider == _GITHUB]
        if not of_github or not of_github[0].name:
            return Attribution(named[person])
        number = of_github[0].subject.removeprefix(f"{_GITHUB}:")
        return Attribution(named[person], f"{number}+{of_github[0].name}@{_NOREPLY}")

    async def caller(self, person: str) -> Caller | None:
        """As :meth:`People.caller`."""
        if person not in await self.names([person]):
            return None
        try:
            return (await self._lookup.caller(person))[0]
        except NotFound:  # an operator's token that is not good any more
            return None

    async def fellows(self, caller: Caller, name: str) -> Sequence[Fellow]:
        """As :meth:`People.fellows`."""
        wanted = name.strip().casefold()
        if not caller.groups or not wanted:
            return ()
        alike = [
            (closeness, person.id, person)
            async for person in self._stores.people.everyone()
            if person.id != caller.person
            and (closeness := _closeness(wanted, person)) >= MIN_SIMILARITY
        ]
        found = []
        for _, _, person in nlargest(MAX_SIMILAR_PEOPLE, alike):
            resolution = await self._resolver.explain(signed_in(person))
            if shared := resolution.caller.groups & caller.groups:
                found.append(Fellow(person.id, person.name or person.id, shared))
        return found

    def groups(self) -> frozenset[str]:
        """As :meth:`People.groups`."""
        return self._resolver.groups()


def _closeness(wanted: str, person: Person) -> float:
    """How near a name comes to one of a person's, 0 to 1; to begin alike is near."""
    names = [each.name.casefold() for each in person.accounts if each.name]
    return max((_alike(wanted, each) for each in names), default=0.0)


def _alike(wanted: str, name: str) -> float:
    if wanted == name:
        return 1.0
    matcher = SequenceMatcher(None, wanted, name)
    if matcher.real_quick_ratio() < MIN_SIMILARITY and wanted not in name:
        return 0.0
    return max(0.9 if wanted in name else 0.0, matcher.ratio() * 0.9)
