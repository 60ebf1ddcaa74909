"""Search over the skills: by meaning, where the portal has a model, and by words.

There is one collection, with one point a skill: the vector of what the skill is called and says
of itself, and the words of that and of the beginning of its body. Where each caller reads a
source with a credential of their own, bodies are not searched.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.contract import (
    Collection,
    CollectionSpec,
    Condition,
    Host,
    Point,
    Tier,
    VectorQuery,
)
from gateway.toolkit.questions import checked_question
from plugins.skills_repo.index.entries import SkillEntry
from plugins.skills_repo.index.library import Found, Library
from plugins.skills_repo.index.store import IndexStore
from plugins.skills_repo.relevance import MIN_FIT, Match, combine_scores, query_terms, text_terms
from plugins.skills_repo.results import FoundSkill, SkillSearch
from plugins.skills_repo.visibility import Visibility

LAYOUT_VERSION = 1
MAX_RESULTS = 50
MEANING = "meaning"
TERMS = "terms"

_COLLECTION = "skills"
_RECORD = "search/indexed.json"
_BATCH_SIZE = 64
_MAX_CANDIDATES = 100
_KEYWORD_NOTE = "This portal has no embedding model: skills are found by words alone."
_MAX_NEAREST = 3


@dataclass(frozen=True, slots=True)
class _IndexedSkill:
    """A skill as it is indexed: what it is called and says, and the words of its body."""

    key: str
    source: str
    head: str
    body: str

    @property
    def digest(self) -> str:
        """What changes with any of it."""
        return hashlib.sha256(f"{self.head}\0{self.body}".encode()).hexdigest()[:24]


class Search:
    """Finds skills for a caller.

    Args:
        host: the plugin's services.
        store: where the bodies for search are kept.
        visible: says what each tier sees.
    """

    def __init__(self, host: Host, store: IndexStore, visible: Visibility) -> None:
        self._host = host
        self._store = store
        self._visible = visible
        self._collection: Collection | None = None
        self._library = Library((), {})
        self._skills: dict[str, Found[SkillEntry]] = {}
        self._turn = asyncio.Lock()

    async def refresh(self, library: Library) -> None:
        """Index what is new in the library and forget what is gone; the rest is not touched."""
        self._library = library
        self._skills = {_key(each): each for each in library.skills(Tier.MEMBERS)}
        async with self._turn:
            docs = {doc.key: doc for doc in await self._docs(library)}
            record = await self._record()
            if not docs and not record.get("docs"):
                return  # An open collection takes memory, also where there is nothing in it.
            collection = await self._opened()
            known = self._known(record, collection)
            gone = [key for key in known if key not in docs]
            fresh = [doc for key, doc in docs.items() if known.get(key) != doc.digest]
            if gone:
                await collection.delete([Condition("key", any_of=tuple(gone))])
            for start in range(0, len(fresh), _BATCH_SIZE):
                await collection.upsert(await self._points(fresh[start : start + _BATCH_SIZE]))
            if gone or fresh:
                await collection.flush()
                await self._remember(collection, docs)

    async def __call__(self, query: str, limit: int, tier: Tier) -> SkillSearch:
        """The skills that fit a query, best first; one that is called so always does.

        Raises:
            ToolFailed: ``invalid_query``: empty, or too long.
        """
        query = checked_question(query)
        matches = await self._matches(query, tier)
        for each in self._visible.share(self._library, tier).called(query, tier):
            matches[_key(each)] = Match(1.0)
        found = {key: one for key in matches if (one := self._seen(key, tier)) is not None}
        best = sorted(found, key=lambda key: (-matches[key].score, key))
        fitting = [key for key in best if matches[key].fit >= MIN_FIT]
        no_model = self._host.embedder is None
        note = _KEYWORD_NOTE if no_model else None
        if found and not fitting:
            nearest = sorted(found, key=lambda key: (-matches[key].fit, key))[:_MAX_NEAREST]
            note = _nothing_fits([found[key] for key in nearest])
        return SkillSearch(
            results=[_result(found[key], matches[key].score) for key in fitting[: _clamp(limit)]],
            mode="keyword" if no_model else "hybrid",
            note=note,
        )

    def _seen(self, key: str, tier: Tier) -> Found[SkillEntry] | None:
        found = self._skills.get(key)
        if found is None or not self._visible.shows(found.source, found.entry.path, tier):
            return None
        return found

    async def _matches(self, query: str, tier: Tier) -> dict[str, Match]:
        """How each skill matches, with scores from 0 to below 1, by its key."""
        share = self._visible.share(self._library, tier)
        sources = tuple(each.name for each in share.seen("skills", tier))
        if not sources:
            return {}
        where = [Condition("source", any_of=sources)]
        if share is not self._library:
            where.append(Condition("key", any_of=tuple(map(_key, share.skills(tier)))))
        asked: list[VectorQuery] = []
        if (sparse := query_terms(query)).indices:
            asked.append(VectorQuery(TERMS, sparse, tuple(where), _MAX_CANDIDATES, ("key",)))
        if self._host.embedder is not None:
            vector = await self._host.embedder.query(query)
            asked.append(VectorQuery(MEANING, vector, tuple(where), _MAX_CANDIDATES, ("key",)))
        if not asked:
            return {}
        answers = await (await self._opened()).search(asked)
        by_name = {each.using: hits for each, hits in zip(asked, answers, strict=True)}
        terms, meaning = by_name.get(TERMS, []), by_name.get(MEANING)
        return combine_scores(terms, meaning, len(sparse.indices), len(self._skills))

    async def _opened(self) -> Collection:
        if self._collection is None:
            embedder = self._host.embedder
            spec = CollectionSpec(
                dense={MEANING: embedder.dimensions} if embedder else {},
                sparse=(TERMS,),
                indexed={"key": "keyword", "source": "keyword"},
            )
            self._collection = await self._host.vectors.collection(_COLLECTION, spec)
        return self._collection

    async def _docs(self, library: Library) -> list[_IndexedSkill]:
        texts = {
            source.name: (await self._store.texts(source.name)).bodies
            for source in library.seen("skills", Tier.MEMBERS)
            if source.credential != "caller"
        }
        return [
            _indexed_skill(each, texts.get(each.source.name, {}))
            for each in library.skills(Tier.MEMBERS)
        ]

    async def _points(self, docs: Sequence[_IndexedSkill]) -> list[Point]:
        heads = [doc.head for doc in docs]
        embedder = self._host.embedder
        vectors = None if embedder is None else await embedder.passages(heads)
        terms = await asyncio.to_thread(lambda: [text_terms(doc.head, doc.body) for doc in docs])
        return [
            Point(
                id=doc.key,
                dense={} if vectors is None else {MEANING: vectors[place]},
                sparse={TERMS: terms[place]},
                payload={"key": doc.key, "source": doc.source},
            )
            for place, doc in enumerate(docs)
        ]

    def _fingerprint(self, collection: Collection) -> str:
        model = self._host.embedder.model if self._host.embedder else "keyword"
        return f"{LAYOUT_VERSION}:{model}:{collection.identity}"

    async def _record(self) -> dict[str, Any]:
        data = await self._host.objects.get(_RECORD)
        try:
            record: dict[str, Any] = json.loads(data) if data else {}
        except ValueError:  # It was damaged; everything is indexed again.
            return {}
        return record

    def _known(self, record: Mapping[str, Any], collection: Collection) -> dict[str, str]:
        """What this very collection holds: a digest for each key."""
        if record.get("collection") != self._fingerprint(collection):
            return {}
        return dict(record["docs"])

    async def _remember(self, collection: Collection, docs: Mapping[str, _IndexedSkill]) -> None:
        record: dict[str, Any] = {
            "collection": self._fingerprint(collection),
            "docs": {key: doc.digest for key, doc in docs.items()},
        }
        await self._host.objects.put(_RECORD, json.dumps(record).encode())


def _key(skill: Found[SkillEntry]) -> str:
    return f"{skill.source.name}/{skill.entry.directory}"


def _indexed_skill(skill: Found[SkillEntry], bodies: Mapping[str, str]) -> _IndexedSkill:
    entry = skill.entry
    name = entry.name.replace("-", " ")
    head = f"{name}. {entry.description}" if entry.description else name
    return _IndexedSkill(_key(skill), skill.source.name, head, bodies.get(entry.directory, ""))


def _clamp(limit: int) -> int:
    return max(1, min(limit, MAX_RESULTS))


def _result(skill: Found[SkillEntry], score: float) -> FoundSkill:
    return FoundSkill(
        name=skill.entry.name,
        description=skill.entry.description,
        source=skill.source.name,
        directory=skill.entry.directory,
        score=round(score, 4),
    )


def _nothing_fits(far: Sequence[Found[SkillEntry]]) -> str:
    nearest = ", ".join(each.entry.name for each in far)
    return f"Nothing here fits that. Nearest, though far from it: {nearest}."
