"""The lexicon: the documents of type ``tag``, each the definition of a term."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gateway.contract import Tier
from plugins.knowledge.notes.content import ContentType
from plugins.knowledge.notes.documents import Document, Entry
from plugins.knowledge.results import Definition, Term, Terms
from plugins.knowledge.retrieval.filters import MOST_RESULTS
from plugins.knowledge.retrieval.markup import one_line, plain
from plugins.knowledge.retrieval.names import Names, names, normal
from plugins.knowledge.retrieval.search import checked
from plugins.knowledge.store import Store

_NEAR = 5
_ALIKE = 0.4


class Lexicon:
    """Finds terms by title, alias and slug, in any case, in singular and plural.

    Args:
        store: the catalogue and the documents.
        names: what documents are called.
    """

    def __init__(self, store: Store, names: Names) -> None:
        self._store = store
        self._names = names

    async def define(self, term: str, up_to: Tier) -> Definition:
        """The definition of a term, or the terms that come near it.

        Raises:
            ToolFailed: ``invalid_query``, as a search does.
        """
        term = checked(term)
        tags = [one for one in self._names.find(term, up_to) if _is_term(one)]
        found = await self._with_bodies(tags[:1], up_to)
        if found:
            return Definition(found=True, entry=found[0])
        near = self._near(term, up_to)
        return Definition(
            found=False, message=f'Term "{term}" not found in lexicon.', near=near or None
        )

    async def search(self, keyword: str, up_to: Tier) -> Terms:
        """The terms that a keyword finds: by name first, then by description.

        Raises:
            ToolFailed: ``invalid_query``, as a search does.
        """
        sought = normal(checked(keyword))
        ranked = [
            (rank, entry.title.lower(), entry)
            for entry in self._terms(up_to)
            if (rank := _rank(sought, entry)) is not None
        ]
        ranked.sort(key=lambda one: one[:2])
        best = [entry for _, _, entry in ranked[:MOST_RESULTS]]
        return Terms(results=await self._with_bodies(best, up_to))

    def titles(self, up_to: Tier) -> list[str]:
        """The terms, as titles, that a caller of this tier may see."""
        return [one_line(entry.title) for entry in self._terms(up_to)]

    def _terms(self, up_to: Tier) -> Iterable[Entry]:
        return (entry for entry in self._store.entries(up_to) if _is_term(entry))

    def _near(self, term: str, up_to: Tier) -> list[str]:
        sought = _trigrams(normal(term))
        alike = [
            (max(_likeness(sought, normal(name)) for name in names(entry)), one_line(entry.title))
            for entry in self._terms(up_to)
        ]
        alike.sort(key=lambda one: (-one[0], one[1]))
        return [title for likeness, title in alike[:_NEAR] if likeness >= _ALIKE]

    async def _with_bodies(self, entries: Sequence[Entry], up_to: Tier) -> list[Term]:
        documents = await self._store.documents([entry.key for entry in entries], up_to)
        return [_term(document) for document in documents if document is not None]


def _is_term(entry: Entry) -> bool:
    return entry.content_type == ContentType.TAG


def _term(document: Document) -> Term:
    related = getattr(document.metadata, "related_terms", None)
    return Term(
        term=one_line(document.title),
        id=document.id,
        definition=plain(document.content).strip() or document.description,
        aliases=[alias.lstrip("#") for alias in document.aliases] or None,
        related_terms=related or None,
    )


def _rank(sought: str, entry: Entry) -> int | None:
    """How directly a keyword finds a term: 0 by its whole name, 3 by its description."""
    called = [normal(name) for name in names(entry)]
    tests = (
        sought in called,
        any(name.startswith(sought) for name in called),
        any(sought in name for name in called),
        sought in normal(entry.description),
    )
    return next((rank for rank, holds in enumerate(tests) if holds and sought), None)


def _trigrams(name: str) -> frozenset[str]:
    padded = f"  {name} "
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))


def _likeness(sought: frozenset[str], name: str) -> float:
    """The Dice coefficient of two names' trigrams, 0 to 1."""
    other = _trigrams(name)
    return 2 * len(sought & other) / (len(sought) + len(other))
