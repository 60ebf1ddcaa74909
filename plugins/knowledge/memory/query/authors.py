"""Who wrote what an entry says: as the portal knows them, not as the entry itself claims."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from gateway.contract import People
from plugins.knowledge.memory.model.author import YOU, Author
from plugins.knowledge.memory.model.query_context import WrittenBy
from plugins.knowledge.memory.model.record import FORMER_PERSON, NOBODY, UPKEEP, Record, Writer
from plugins.knowledge.memory.store.reads import Reads

_NAMES_OF_NOBODY = {
    NOBODY: "the knowledge base",
    FORMER_PERSON: "somebody who has left",
    UPKEEP: "the portal's upkeep",
}


@dataclass(frozen=True, slots=True)
class Authors:
    """Finds who wrote entries.

    Attributes:
        people: what the portal calls them.
        reads: who wrote something at all.
    """

    people: People
    reads: Reads

    async def of(
        self, records: Collection[Record], person: str | None, name: str | None = None
    ) -> dict[str, Author]:
        """The authors of entries, by the entries' ids.

        Args:
            records: entries that the caller may read, as they were read.
            person: the caller's id.
            name: what the portal calls the caller; their id where it is not given.
        """
        by = {each.id: each.writer or Writer(each.owner, None) for each in records}
        names = await self.names({each.person for each in by.values()} - {person})
        if person is not None and name:
            names[person] = name
        return {
            id: Author(
                name=names.get(each.person, each.person),
                you=each.person == person,
                approved=each.approved_by is not None or each.person == NOBODY,
            )
            for id, each in by.items()
        }

    async def called(self, name: str | None, person: str | None) -> WrittenBy | None:
        """Whose words somebody asks for who gives a name as answers show it, or an id.

        Args:
            name: what they give; case makes no difference. None asks for nobody's.
            person: the caller's id.
        """
        if name is None:
            return None
        names = await self.names(await self.reads.writers() | {person or NOBODY})
        wanted = name.strip().casefold()
        same = {id for id, own in names.items() if own.casefold() == wanted or id == name}
        if wanted in (YOU, "me", "myself") and person is not None:
            same.add(person)
        return WrittenBy(name, frozenset(same))

    async def names(self, writers: Collection[str]) -> dict[str, str]:
        """What the portal calls those who wrote something, by their ids, as far as it knows them.

        Args:
            writers: as versions of entries name them.
        """
        people = set(writers) - set(_NAMES_OF_NOBODY)
        return {**_NAMES_OF_NOBODY, **(await self.people.names(people) if people else {})}
