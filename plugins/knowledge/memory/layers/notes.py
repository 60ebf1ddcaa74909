"""The synced notes as a part of the organization's memory: they can be read, not written here."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gateway.contract import Tier
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.memory.access import ANYONE, MEMBER
from plugins.knowledge.memory.asking import Answers, Question
from plugins.knowledge.memory.entries import (
    AccessPolicy,
    AccessPolicyConfig,
    KnowledgeMetadata,
    KnowledgeSource,
    Layer,
    SourceType,
)
from plugins.knowledge.memory.labels import labels
from plugins.knowledge.memory.ranking import Scored
from plugins.knowledge.memory.records import Record
from plugins.knowledge.notes.documents import Document, Entry
from plugins.knowledge.retrieval.excerpts import excerpt
from plugins.knowledge.retrieval.filters import MOST_RESULTS, SearchFilters
from plugins.knowledge.retrieval.search import plain

PREFIX = "note:"
"""How the ids of notes begin; what follows is the document's type and id."""
NOBODY = ""
"""Whose notes are: the community's, and no person's."""


class NotesLayer:
    """The notes.

    Args:
        knowledge: the knowledge base.
    """

    layer = Layer.ORGANIZATION

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    async def search(self, question: Question) -> Answers:
        """The notes that answer best; words and meaning are weighed as for everyone."""
        tier, text = _tier(question.keys), plain(question.text).strip()
        if tier is None or not text:
            return Answers()
        limit = min(question.limit, MOST_RESULTS)
        results = await self._knowledge.search(
            text, SearchFilters(limit=limit), tier, vector=question.vector, floor=False
        )
        found = []
        for result in results.results:
            entry = self._knowledge.store.entry(f"{result.content_type}/{result.id}", tier)
            if entry is not None and _asked_for(record := _record(entry), question):
                found.append(Scored(record.id, result.score, record.changed))
        return Answers(found)

    async def read(self, ids: Collection[str], keys: frozenset[str]) -> dict[str, Record]:
        """Notes by their ids, each with its beginning."""
        tier = _tier(keys)
        wanted = [id.removeprefix(PREFIX) for id in ids if id.startswith(PREFIX)]
        if tier is None or not wanted:
            return {}
        documents = await self._knowledge.store.documents(wanted, tier)
        return {(record := _begun(one)).id: record for one in documents if one is not None}


def _tier(keys: frozenset[str]) -> Tier | None:
    """Up to which tier these keys read notes; None where they read nothing."""
    if MEMBER in keys:
        return Tier.MEMBERS
    return Tier.PUBLIC if ANYONE in keys else None


def _asked_for(record: Record, question: Question) -> bool:
    narrowing, own = question.narrowing, labels(record)
    return (
        all(not group.isdisjoint(own) for group in narrowing.labels)
        and (narrowing.after is None or record.created >= narrowing.after)
        and (narrowing.before is None or record.created <= narrowing.before)
        and narrowing.owner in (None, NOBODY)
    )


def _begun(document: Document) -> Record:
    """A note with its beginning: the whole has a tool, and a tier, of its own."""
    return replace(_record(document), content=excerpt(document.content, ""))


def _record(entry: Entry) -> Record:
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
        id=f"{PREFIX}{entry.key}",
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
        created=entry.metadata.date,
        placed=entry.metadata.date,
        used=entry.synced_at,
        updated=max(entry.synced_at, entry.metadata.date),
    )
