"""The synced notes as a read-only part of the organization layer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from gateway.contract import Tier
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.memory.model.entry import (
    KnowledgeMetadata,
    KnowledgeSource,
    Layer,
    SourceType,
)
from plugins.knowledge.memory.model.labels import labels
from plugins.knowledge.memory.model.policy import (
    ANYONE_KEY,
    MEMBERS_KEY,
    AccessPolicy,
    AccessPolicyConfig,
)
from plugins.knowledge.memory.model.query_context import LayerAnswers, Question, Scored
from plugins.knowledge.memory.model.record import NOBODY, NOTE_PREFIX, SUPERSEDED_BY, Record
from plugins.knowledge.memory.model.requests import Mode
from plugins.knowledge.memory.model.responses import Standing
from plugins.knowledge.memory.model.validity import Validity
from plugins.knowledge.notes.documents import STATED_BY_SYNC, Document, DocumentEntry
from plugins.knowledge.results import DocumentStanding
from plugins.knowledge.retrieval.excerpts import excerpt
from plugins.knowledge.retrieval.filters import MAX_RESULTS, SearchFilters
from plugins.knowledge.retrieval.questions import plain
from plugins.knowledge.supersession import successor_named

_UNSAID: Any = {
    **dict.fromkeys((*STATED_BY_SYNC, "path", "tier"), True),
    "metadata": {"date"},
}
"""What of a document is no part of what it says."""


class NotesLayer:
    """The notes.

    Args:
        knowledge: the knowledge base.
    """

    layer = Layer.ORGANIZATION

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    async def search(self, question: Question) -> LayerAnswers:
        """The notes that answer best; words and meaning are weighed as for everyone."""
        tier, text = _tier(question.keys), plain(question.text).strip()
        if tier is None or not text:
            return LayerAnswers()
        limit = min(question.limit, MAX_RESULTS)
        filters = SearchFilters(limit=limit, as_of=question.entry_filter.as_of)
        made = question.vector
        meaning = question.mode is not Mode.KEYWORD if made is None else made
        results = await self._knowledge.search(text, filters, tier, meaning=meaning, floor=False)
        found = []
        for result in results.results:
            entry = self._knowledge.store.entry(f"{result.content_type}/{result.id}", tier)
            if entry is not None and _matches(record := _record(entry), question):
                # The search has put what holds first: nothing is left to weigh.
                begun = min(record.created, record.starts)
                found.append(Scored(record.id, result.score, record.changed, created=begun))
        return LayerAnswers(found)

    async def read(self, ids: Collection[str], keys: frozenset[str]) -> dict[str, Record]:
        """Notes by their ids, each with its beginning."""
        tier = _tier(keys)
        wanted = [id.removeprefix(NOTE_PREFIX) for id in ids if id.startswith(NOTE_PREFIX)]
        if tier is None or not wanted:
            return {}
        documents = await self._knowledge.store.documents(wanted, tier)
        records = (self._read(one, tier) for one in documents if one is not None)
        return {record.id: record for record in records}

    def _read(self, document: Document, tier: Tier) -> Record:
        """A note with its beginning, for the whole has a tool of its own; and whether it holds."""
        record = _record(document)
        standing = self._knowledge.standings.of(document, tier, NOTE_PREFIX)
        custom, said = {**record.metadata.custom}, successor_named(document.entry())
        if standing is not None and standing.superseded_by:
            custom[SUPERSEDED_BY] = standing.superseded_by[0]
        elif standing is not None and not standing.holds and said:
            custom[SUPERSEDED_BY] = said
        metadata = record.metadata.model_copy(update={"custom": custom})
        return replace(
            record,
            metadata=metadata,
            content=excerpt(document.content, ""),
            digest=_digest(document),
            standing=None if standing is None else _standing(standing),
        )


def _tier(keys: frozenset[str]) -> Tier | None:
    """Up to which tier these keys read notes; None where they read nothing."""
    if MEMBERS_KEY in keys:
        return Tier.MEMBERS
    return Tier.PUBLIC if ANYONE_KEY in keys else None


def _digest(document: Document) -> str:
    """What names what a note says; not when or from which commit it was read.

    A date may be that of its file, so it does not count.
    """
    said = document.model_dump(mode="json", exclude=_UNSAID, exclude_defaults=True)
    return hashlib.blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16).hexdigest()


def _standing(said: DocumentStanding) -> Standing:
    """The standing of a document, as memory tells it."""
    return Standing(
        holds=said.holds,
        text=said.text,
        superseded_by=said.superseded_by or [],
        contested_with=said.contested_with or [],
        ended_at=said.ended_at,
        starts_at=said.starts_at,
        unverified_days=said.unverified_days,
        source_changed=said.source_changed is not None,
    )


def _matches(record: Record, question: Question) -> bool:
    entry_filter, own = question.entry_filter, labels(record)
    return (
        all(not group.isdisjoint(own) for group in entry_filter.labels)
        and (entry_filter.after is None or record.created >= entry_filter.after)
        and (entry_filter.before is None or record.created <= entry_filter.before)
        and entry_filter.owner in (None, NOBODY)
        and entry_filter.is_of_its_time(record)
        and (entry_filter.written is None or entry_filter.written.has(record))
    )


def _record(entry: DocumentEntry) -> Record:
    """A note as an entry, without its body."""
    public = Tier.PUBLIC.allows(entry.tier)
    policy = AccessPolicy.PUBLIC if public else AccessPolicy.ORGANIZATION
    custom = {
        "contentType": str(entry.content_type),
        **{
            name: value
            for name in ("group", "release", "status")
            if (value := getattr(entry, name))
        },
    }
    return Record(
        id=f"{NOTE_PREFIX}{entry.key}",
        layer=Layer.ORGANIZATION,
        owner=NOBODY,
        agent=None,
        content="",
        metadata=KnowledgeMetadata.model_construct(
            title=entry.title,
            description=entry.description or None,
            tags=entry.tags,
            custom=custom,
        ),
        source=KnowledgeSource.model_construct(
            type=SourceType.GIT_REPOSITORY,
            identifier=entry.path,
            version=entry.commit_sha or None,
        ),
        access=AccessPolicyConfig(policy=policy),
        created=entry.written,
        placed=entry.written,
        used=entry.synced_at,
        validity=Validity.model_construct(
            event_at=None,
            valid_from=entry.metadata.valid_from,
            valid_until=entry.ends,
        ),
        updated=max(entry.synced_at, entry.metadata.date),
    )
