"""What waits for a look: entries at odds, and entries nobody has looked at for long."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, Field

from gateway.contract import Caller
from plugins.knowledge.memory.model.excerpts import beginning
from plugins.knowledge.memory.model.policy import author_key
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.query.standing import StandingOrder
from plugins.knowledge.memory.rights.access import caller_keys, notice_keys
from plugins.knowledge.memory.rights.roles import Roles, may_change, require_role
from plugins.knowledge.notes.ages import Overdue
from plugins.knowledge.standing import Standings

MAX_ITEMS = 50
"""Of each kind."""
MAX_LOOKED_AT = 500
"""Pairs that are looked through for those that the caller may decide."""
MAX_OVERDUE = 1_000
"""Entries that are looked through for those that nobody has looked at for long."""
MAX_EXCERPT = 240
"""Characters of an entry."""


class ReviewEntry(BaseModel):
    """An entry, in brief."""

    id: str
    content: str = Field(description="What it says, or its beginning.")
    changed: datetime


class ReviewPair(BaseModel):
    """Two entries at odds, of which the caller may end the earlier one."""

    kind: Relation = Field(description="seems_to_replace was found, contests somebody said.")
    newer: ReviewEntry
    older: ReviewEntry


class OddPair(ReviewPair):
    """Two entries at odds, of which one is read."""

    yours: bool = Field(description="Whether you may decide, with settle_memory.")


class ReviewDocument(BaseModel):
    """A document that wants a look."""

    id: str = Field(description="contentType/id, as get_document takes it.")
    title: str
    path: str = Field(description="The note's file in its source, where it is changed.")
    authors: list[str]
    reason: str


class ReviewTotals(BaseModel):
    """How much waits of each kind, as far as was looked: of pairs 500, of entries 1,000."""

    pairs: int
    unverified: int
    source_changed: int
    documents: int


class Review(BaseModel):
    """What waits for a look, the newest pairs and the oldest entries first; of each kind a page."""

    pairs: list[ReviewPair] = Field(description="Say with settle_memory how they go together.")
    unverified: list[ReviewEntry] = Field(
        description="Yours, that nobody has looked at for long: verify_memory, or change them."
    )
    source_changed: list[ReviewEntry] = Field(
        default_factory=list,
        description="Yours, that were verified against a note which has changed since, or is gone.",
    )
    documents: list[ReviewDocument] = Field(
        default_factory=list,
        description="Documents past their type's age or their end, contested, superseded in a "
        "circle, or whose source has changed: of yours, or of all for an admin.",
    )
    totals: ReviewTotals | None = Field(None, description="How much waits of each kind in all.")
    next_offset: int | None = Field(None, description="Give it as offset for those that follow.")


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """Finds what waits for a look.

    Attributes:
        standing: what is at odds, and after how long an entry wants a look.
        roles: who may read at all.
        documents: which of the knowledge base's want a look.
    """

    standing: StandingOrder
    roles: Roles
    documents: Standings

    async def __call__(self, caller: Caller, offset: int = 0) -> Review:
        """What a caller can decide, or look at.

        Args:
            caller: who looks.
            offset: how many of each kind to skip: what an earlier answer gave as ``next_offset``.

        Raises:
            MemoryFailed: the caller may not read.
        """
        person = require_role(caller, self.roles.read, "review memory")
        stale = self.standing.clock() - self.standing.review_age
        oldest = await self.standing.reads.unverified(person, stale, MAX_OVERDUE)
        wanting = await asyncio.to_thread(self.documents.wanting_look, caller.tier)
        own = [each for each in wanting if _is_asked(each, caller)]
        pairs, changed = await self._pairs(caller), await self._changed(person, caller)
        end = offset + MAX_ITEMS
        totals = ReviewTotals(
            pairs=len(pairs),
            unverified=len(oldest),
            source_changed=len(changed),
            documents=len(own),
        )
        return Review(
            pairs=pairs[offset:end],
            unverified=[_brief(each) for each in oldest[offset:end]],
            source_changed=changed[offset:end],
            documents=[_document(each) for each in own[offset:end]],
            totals=totals,
            next_offset=end if max(totals.model_dump().values()) > end else None,
        )

    async def _changed(self, person: str, caller: Caller) -> list[ReviewEntry]:
        verified = await self.standing.reads.verified(person, MAX_LOOKED_AT)
        changed = await self.standing.changed_sources(verified, caller_keys(caller))
        return [_brief(each) for each in verified if each.id in changed]

    async def of(self, id: str, caller: Caller) -> list[OddPair]:
        """What an entry is at odds with, of what a caller may read; the newest first.

        Args:
            id: the entry's.
            caller: who reads it.
        """
        return (await self._at_odds(caller, id))[:MAX_ITEMS]

    async def _pairs(self, caller: Caller) -> list[ReviewPair]:
        found = [each for each in await self._at_odds(caller) if each.yours]
        return [ReviewPair(kind=each.kind, newer=each.newer, older=each.older) for each in found]

    async def _at_odds(self, caller: Caller, of: str | None = None) -> list[OddPair]:
        held = caller_keys(caller)
        found = await self.standing.relations.undecided(held, MAX_LOOKED_AT, of)
        ids = {id for each in found for id in (each.entry, each.target)}
        records = await self.standing.reads.read(ids, held)
        known = ((each.kind, records.get(each.entry), records.get(each.target)) for each in found)
        return [
            OddPair(
                kind=kind,
                newer=_brief(newer),
                older=_brief(older),
                yours=may_change(caller, older),
            )
            for kind, newer, older in known
            if newer is not None and older is not None
        ]


def _brief(record: Record) -> ReviewEntry:
    shown = beginning(record.content, MAX_EXCERPT)
    return ReviewEntry(id=record.id, content=shown, changed=record.changed)


def _is_asked(one: Overdue, caller: Caller) -> bool:
    """Whether a document asks this person: its author by name, or an admin."""
    authors = {author_key(each, caller.tier) for each in one.entry.metadata.author or ()}
    return caller.admin or not authors.isdisjoint(notice_keys(caller))


def _document(one: Overdue) -> ReviewDocument:
    entry = one.entry
    return ReviewDocument(
        id=entry.key,
        title=entry.title,
        path=entry.path,
        authors=list(entry.metadata.author or ()),
        reason=one.reason,
    )
