"""Search over the skills: by meaning, where the portal has a model, and by words.

There is one collection, with one point a skill: the vector of what the skill is called and says
of itself, and the words of that and of the beginning of its body. Where each caller reads a
source with a credential of their own, bodies are not searched.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.contract import (
    Collection,
    CollectionSpec,
    Condition,
    Hit,
    Host,
    Point,
    Sparse,
    Tier,
    ToolFailed,
    VectorQuery,
)
from plugins.skills_repo.index.entries import SkillEntry
from plugins.skills_repo.index.library import Found, Library
from plugins.skills_repo.index.store import IndexStore
from plugins.skills_repo.results import FoundSkill, SkillSearch
from plugins.skills_repo.visible import Visible

LAYOUT = 1
MOST_RESULTS = 50
LONGEST_QUERY = 1000
MEANING = "meaning"
TERMS = "terms"

_COLLECTION = "skills"
_RECORD = "search/indexed.json"
_BATCH = 64
_CANDIDATES = 100
_AVERAGE_TERMS = 300.0
_KEYWORD_NOTE = "This portal has no embedding model: skills are found by words alone."
_WORD = re.compile(r"[^\W_]+")
_FILLER_WORDS = """
a an and are as at be by can do for from how i in is it me my of on or our that the this to use
using we what when which with you your
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_WEIGHT_OF_WORDS = 0.35
"""How much words count beside meaning: enough to lift an exact name, too little to outdo it."""


@dataclass(frozen=True, slots=True)
class _Doc:
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

    def __init__(self, host: Host, store: IndexStore, visible: Visible) -> None:
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
            for start in range(0, len(fresh), _BATCH):
                await collection.upsert(await self._points(fresh[start : start + _BATCH]))
            if gone or fresh:
                await collection.flush()
                await self._remember(collection, docs)

    async def __call__(self, query: str, limit: int, tier: Tier) -> SkillSearch:
        """The skills that fit a query, best first.

        Raises:
            ToolFailed: ``invalid_query``: empty, or too long.
        """
        query = query.strip()
        if not query or len(query) > LONGEST_QUERY:
            message = f"Say in 1 to {LONGEST_QUERY} characters what to look for."
            raise ToolFailed("invalid_query", message)
        scores = await self._scores(query, tier)
        for each in self._visible.share(self._library, tier).called(query, tier):
            scores[_key(each)] = 1.0
        found = {key: one for key in scores if (one := self._seen(key, tier)) is not None}
        best = sorted(found, key=lambda key: (-scores[key], key))
        no_model = self._host.embedder is None
        return SkillSearch(
            results=[_result(found[key], scores[key]) for key in best[: _clamped(limit)]],
            mode="keyword" if no_model else "hybrid",
            note=_KEYWORD_NOTE if no_model else None,
        )

    def _seen(self, key: str, tier: Tier) -> Found[SkillEntry] | None:
        found = self._skills.get(key)
        if found is None or not self._visible.shows(found.source, found.entry.path, tier):
            return None
        return found

    async def _scores(self, query: str, tier: Tier) -> dict[str, float]:
        """How well each skill fits, from 0 to below 1, by its key."""
        share = self._visible.share(self._library, tier)
        sources = tuple(each.name for each in share.seen("skills", tier))
        if not sources:
            return {}
        where = [Condition("source", any_of=sources)]
        if share is not self._library:
            where.append(Condition("key", any_of=tuple(map(_key, share.skills(tier)))))
        asked: list[VectorQuery] = []
        if (sparse := _query_terms(query)).indices:
            asked.append(VectorQuery(TERMS, sparse, tuple(where), _CANDIDATES, ("key",)))
        if self._host.embedder is not None:
            vector = await self._host.embedder.query(query)
            asked.append(VectorQuery(MEANING, vector, tuple(where), _CANDIDATES, ("key",)))
        if not asked:
            return {}
        answers = await (await self._opened()).search(asked)
        by_name = {each.using: hits for each, hits in zip(asked, answers, strict=True)}
        return _combined(by_name.get(TERMS, []), by_name.get(MEANING))

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

    async def _docs(self, library: Library) -> list[_Doc]:
        texts = {
            source.name: (await self._store.texts(source.name)).bodies
            for source in library.seen("skills", Tier.MEMBERS)
            if source.credential != "caller"
        }
        return [
            _doc(each, texts.get(each.source.name, {})) for each in library.skills(Tier.MEMBERS)
        ]

    async def _points(self, docs: Sequence[_Doc]) -> list[Point]:
        heads = [doc.head for doc in docs]
        embedder = self._host.embedder
        vectors = None if embedder is None else await embedder.passages(heads)
        terms = await asyncio.to_thread(lambda: [_doc_terms(doc) for doc in docs])
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
        return f"{LAYOUT}:{model}:{collection.identity}"

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

    async def _remember(self, collection: Collection, docs: Mapping[str, _Doc]) -> None:
        record: dict[str, Any] = {
            "collection": self._fingerprint(collection),
            "docs": {key: doc.digest for key, doc in docs.items()},
        }
        await self._host.objects.put(_RECORD, json.dumps(record).encode())


def _key(skill: Found[SkillEntry]) -> str:
    return f"{skill.source.name}/{skill.entry.directory}"


def _doc(skill: Found[SkillEntry], bodies: Mapping[str, str]) -> _Doc:
    entry = skill.entry
    name = entry.name.replace("-", " ")
    head = f"{name}. {entry.description}" if entry.description else name
    return _Doc(_key(skill), skill.source.name, head, bodies.get(entry.directory, ""))


def _clamped(limit: int) -> int:
    return max(1, min(limit, MOST_RESULTS))


def _result(skill: Found[SkillEntry], score: float) -> FoundSkill:
    return FoundSkill(
        name=skill.entry.name,
        description=skill.entry.description,
        source=skill.source.name,
        directory=skill.entry.directory,
        score=round(score, 4),
    )


def _combined(by_words: Sequence[Hit], by_meaning: Sequence[Hit] | None) -> dict[str, float]:
    """One score for each skill: its words' as a part of the best one's, beside its meaning's."""
    most = max((hit.score for hit in by_words), default=0.0) or 1.0
    words = {str(hit.payload["key"]): max(0.0, hit.score / most) for hit in by_words}
    if by_meaning is None:
        return {key: 0.99 * score for key, score in words.items()}
    meaning = {str(hit.payload["key"]): max(0.0, hit.score) for hit in by_meaning}
    rest = 1 - _WEIGHT_OF_WORDS
    return {
        key: 0.99 * (rest * meaning.get(key, 0.0) + _WEIGHT_OF_WORDS * words.get(key, 0.0))
        for key in words.keys() | meaning.keys()
    }


def _terms(text: str) -> list[str]:
    """The words of a text that tell skills apart, in lower case, without a plural's s."""
    words = _WORD.findall(text.lower())
    return [_singular(word) for word in words if word not in _FILLERS and len(word) <= 40]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _doc_terms(doc: _Doc) -> Sparse:
    """BM25's share of the stored text; a word of the head counts as three of the body."""
    counts = Counter(_terms(doc.body))
    for term in _terms(doc.head):
        counts[term] += 3
    rest = 1.2 * (0.25 + 0.75 * counts.total() / _AVERAGE_TERMS)
    weights: dict[int, float] = {}
    for term, count in counts.items():
        weights[zlib.crc32(term.encode())] = count * 2.2 / (count + rest)
    return Sparse(tuple(weights), tuple(weights.values()))


def _query_terms(query: str) -> Sparse:
    ids = tuple(dict.fromkeys(zlib.crc32(term.encode()) for term in _terms(query)))
    return Sparse(ids, (1.0,) * len(ids))
