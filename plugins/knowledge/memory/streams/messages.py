"""One event of memory as a message: who receives it, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from gateway.contract import StreamEvent
from plugins.knowledge.memory.model.entry import KnowledgeEntry
from plugins.knowledge.memory.rights.access import is_addressed
from plugins.knowledge.memory.streams.events import (
    OPERATIONS,
    EntryGone,
    KnowledgeUpdateEvent,
    NotificationEvent,
    UpdateFilters,
)


@dataclass(frozen=True, slots=True)
class EntryState:
    """The current state of an entry, whatever an event said of it.

    Attributes:
        readers: the keys that may read it.
        gone: whether it was forgotten.
        expires: when it is gone by itself, or None.
        agent: the agent that wrote it, or None.
    """

    readers: frozenset[str]
    gone: bool
    expires: datetime | None
    agent: str | None

    def reads(self, keys: frozenset[str], now: datetime) -> bool:
        """Whether one of these keys may read the entry now."""
        there = not self.gone and (self.expires is None or self.expires > now)
        return there and not self.readers.isdisjoint(keys)


@dataclass(frozen=True)
class LoggedEvent:
    """An event.

    Attributes:
        number: its place in the order of all events.
        kind: what happened.
        entry: the entry's id, or "".
        layer: the entry's, or "".
        readers: the keys whose holders are told (``rights/access.py``: ``is_addressed``).
        at: when it happened.
        body: what it said, as JSON values; None where that was erased, or is not told.
        size: characters of the body.
    """

    number: int
    kind: str
    entry: str
    layer: str
    readers: frozenset[str]
    at: datetime
    body: Mapping[str, Any] | None
    size: int

    @cached_property
    def event(self) -> StreamEvent:
        """The event as clients get it; the same one for all of them."""
        if self.kind not in OPERATIONS:
            notice = NotificationEvent(
                type=self.kind, data=dict(self.body or {}), timestamp=self.at
            )
            return StreamEvent("NotificationEvent", notice, str(self.number))
        entry: KnowledgeEntry | EntryGone = EntryGone(id=self.entry)
        if self.body is not None:
            entry = KnowledgeEntry.model_validate(self.body)
        told: Any = {"type": self.kind, "entry": entry, "timestamp": self.at}
        update = KnowledgeUpdateEvent(**told)
        return StreamEvent("KnowledgeUpdateEvent", update, str(self.number))


def is_visible(
    told: LoggedEvent, state: EntryState | None, keys: frozenset[str], now: datetime
) -> bool:
    """Whether somebody is told of an event.

    They were to be told when it happened; and what says something of an entry is told to those
    alone who may read the entry now as well.

    Args:
        told: the event.
        state: of its entry; None where there is none.
        keys: what they can read by.
        now: the time.
    """
    if not is_addressed(told.readers, keys):
        return False
    if told.kind not in OPERATIONS or told.kind == "deleted":
        return True
    return told.body is not None and state is not None and state.reads(keys, now)


def matches(told: LoggedEvent, state: EntryState | None, filters: UpdateFilters) -> bool:
    """Whether an update is one that is asked for.

    A deletion of which only the id is told matches whatever is asked of the entry itself: who
    follows entries with a tag has to hear that one is gone.
    """
    if filters.operations and told.kind not in filters.operations:
        return False
    if filters.layers and told.layer not in filters.layers:
        return False
    if filters.agent_id and state is not None and state.agent != filters.agent_id:
        return False
    return told.body is None or _body_matches(told.body, filters)


def _body_matches(body: Mapping[str, Any], filters: UpdateFilters) -> bool:
    """Whether an entry is one that is asked for, by what is written in it."""
    said = body["metadata"]
    wanted = {tag.casefold() for tag in filters.tags}
    if wanted and wanted.isdisjoint(tag.casefold() for tag in said.get("tags", ())):
        return False
    pairs = (
        (filters.source_type, body["source"]["type"]),
        (filters.author, said.get("author")),
        (filters.access_policy, body["access_policy"]),
    )
    return all(asked is None or asked == is_ for asked, is_ in pairs)
