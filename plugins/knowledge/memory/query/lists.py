"""Lists the entries that a caller may read, the newest first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from pydantic import Field, model_validator

from gateway.contract import Caller
from plugins.knowledge.memory.layers.working import WorkingLayer
from plugins.knowledge.memory.model import labels as by
from plugins.knowledge.memory.model.author import AUTHOR_FILTER
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.fields import LastMoment, Part, UtcMoment, check_span
from plugins.knowledge.memory.model.policy import AccessPolicy
from plugins.knowledge.memory.model.query_context import EntryFilter, WrittenBy
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.requests import MAX_OFFSET
from plugins.knowledge.memory.query.authors import Authors
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.rights.roles import Roles, require_role
from plugins.knowledge.memory.store.reads import Reads


class ListFilters(Part):
    """Which entries are listed: all that are given must hold."""

    mine: bool = Field(False, description="Only your own.")
    layers: tuple[Layer, ...] = Field((), max_length=8, description="Only of these layers.")
    tags: tuple[str, ...] = Field((), max_length=100, description="With at least one of these.")
    author: str | None = Field(None, min_length=1, max_length=200, description=AUTHOR_FILTER)
    agent_id: str | None = Field(
        None, min_length=1, max_length=200, description="Written by this agent."
    )
    policy: AccessPolicy | None = Field(None, description="Under this access policy.")
    since: UtcMoment | None = Field(None, description="Created then or later.")
    until: LastMoment | None = Field(None, description="Created then or earlier.")

    @model_validator(mode="after")
    def _is_a_time(self) -> Self:
        check_span(self.since, self.until, ("since", "until"))
        return self

    def entry_filter(self, person: str | None, written: WrittenBy | None) -> EntryFilter:
        """The same, as every store reads it.

        Args:
            person: who asks.
            written: whom they mean by the author.
        """
        groups = (
            [by.tag(each) for each in self.tags],
            [] if self.agent_id is None else [by.agent(self.agent_id)],
            [] if self.policy is None else [by.policy(self.policy)],
        )
        return EntryFilter(
            labels=tuple(frozenset(group) for group in groups if group),
            after=self.since,
            before=self.until,
            owner=(person or "") if self.mine else None,
            written=written,
        )


@dataclass(frozen=True, slots=True)
class ListedIds:
    """Entries by id, the newest first.

    Attributes:
        ids: those that were looked for, 10,000 at most.
        total: how many there are.
        created: when each was first written. What is changed while somebody goes from page to page
            stays where it is, so that they come to all of it.
    """

    ids: Sequence[str]
    total: int
    created: Mapping[str, datetime]

    def place(self, id: str) -> tuple[float, str]:
        """Where an entry stands, in ascending order: what is first written later is before it.

        Args:
            id: one of these.
        """
        return -self.created[id].timestamp(), id


@dataclass(frozen=True, slots=True)
class EntryLists:
    """The list operation: notes of the knowledge base have lists of their own.

    Attributes:
        reads: the database.
        working: working memory.
        roles: who may read at all.
        authors: finds who is meant by an author's name.
    """

    reads: Reads
    working: WorkingLayer
    roles: Roles
    authors: Authors

    async def __call__(self, filters: ListFilters, caller: Caller) -> ListedIds:
        """What there is.

        Raises:
            MemoryFailed: the caller may not read.
        """
        require_role(caller, self.roles.read, "read memory")
        held = caller_keys(caller)
        written = await self.authors.called(filters.author, caller.person)
        entry_filter = filters.entry_filter(caller.person, written)
        layers = set(filters.layers) or set(Layer)
        pad = self.working.listed(caller.person, entry_filter) if Layer.WORKING in layers else []
        stored, total = await self.reads.listed(
            layers - {Layer.WORKING}, entry_filter, held, MAX_OFFSET
        )
        moments: Mapping[str, datetime] = {**stored, **{each.id: each.created for each in pad}}
        listed = ListedIds([], total + len(pad), moments)
        return replace(listed, ids=sorted(moments, key=listed.place)[:MAX_OFFSET])

    async def read(self, ids: Collection[str], caller: Caller) -> list[Record]:
        """Entries of a list, in its order; without those that are gone by now."""
        held = caller_keys(caller)
        found = {**await self.working.read(ids, held), **await self.reads.read(ids, held)}
        return [found[id] for id in ids if id in found]
