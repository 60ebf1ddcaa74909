"""Documents ask for a look: their authors are told, and admins, once for each cause."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gateway.contract import Tier
from plugins.knowledge.memory.model.policy import ADMIN_KEY, author_key
from plugins.knowledge.memory.store.notices import Notices
from plugins.knowledge.memory.store.review_requests import ReviewRequests
from plugins.knowledge.memory.store.writes import Event, lock_event_order
from plugins.knowledge.memory.write.entries import Entries
from plugins.knowledge.notes.ages import Overdue, last_look
from plugins.knowledge.standing import Standings

_Ask = tuple[str, str]
"""A document, and why it asks since which look."""


@dataclass(frozen=True, slots=True)
class ReviewNotices:
    """Tells people how many more documents ask them; ``review_memory`` shows which.

    Attributes:
        documents: which documents want a look.
        requests: what was asked already.
        notices: where it is written.
        entries: memory's stores.
    """

    documents: Standings
    requests: ReviewRequests
    notices: Notices
    entries: Entries

    async def __call__(self) -> dict[str, int]:
        """Ask for what nobody was asked for yet; how many documents that are."""
        # Off the loop: of a large base it takes a while.
        asked = await asyncio.to_thread(self._asked)
        left = asked.keys() - await self.requests.known()
        if not left:
            return {"reviews_asked": 0}
        told: list[Event] = []
        async with self.requests.database.begin() as connection:
            # Before the rows: two replicas that ask at once would wait for each other.
            await lock_event_order(connection)
            new = await self.requests.add_in(connection, left, self.entries.clock())
            for reader, count in _readers(asked[each] for each in new).items():
                body = {"documents": count}
                told.append(await self.notices.add_in(connection, {reader}, "review_asked", body))
        self.entries.tell(told)
        return {"reviews_asked": len(new)}

    def _asked(self) -> dict[_Ask, tuple[Overdue, Tier]]:
        """What asks for a look, and who may know: its tier, or that of why it asks."""
        public = {_ask(one) for one in self.documents.wanting_look(Tier.PUBLIC)}
        return {
            _ask(one): (one, Tier.PUBLIC if _ask(one) in public else Tier.MEMBERS)
            for one in self.documents.wanting_look(Tier.MEMBERS)
        }


def _ask(one: Overdue) -> _Ask:
    """Which document asks, and why: after the next look it may ask again."""
    return one.entry.key, f"{one.cause} {last_look(one.entry):%Y-%m-%d}"


def _readers(some: Iterable[tuple[Overdue, Tier]]) -> Mapping[str, int]:
    """How many documents to tell of, by the key whose holders are told."""
    found: Counter[str] = Counter()
    for one, tier in some:
        authors = {author_key(each, tier) for each in one.entry.metadata.author or ()}
        found.update({*authors, ADMIN_KEY})
    return dict(sorted(found.items()))
