"""The lexicon: the documents of type ``tag``, each the definition of a term."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from gateway.contract import Tier
from gateway.toolkit.words import words
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import Document, DocumentEntry
from plugins.knowledge.results import Definition, DocumentStanding, Term, Terms
from plugins.knowledge.retrieval.filters import MAX_RESULTS
from plugins.knowledge.retrieval.markup import labels, one_line, plain
from plugins.knowledge.retrieval.names import Names, names, normal_form
from plugins.knowledge.retrieval.questions import check_question
from plugins.knowledge.standing import Standings
from plugins.knowledge.store import Store

_TERM_QUESTION = re.compile(
    r"(?:(?:(?:what|who)(?:'s|\u2019s| is| are)(?: meant by)?|what (?:does|do)|define|explain"
    r"|(?:the )?(?:definition|meaning) of)\s+(?:an?\s|the\s)?|(?:an?|the)\s)"
    r"(?P<term>.+?)(?:\s+means?)?[\s?.!]*",
    re.IGNORECASE,
)
"""A question for a term, or a term with its article."""
_MAX_QUESTION_CHARACTERS = 240
"""Characters of a question for a term; a name has 200 at most."""
_MAX_NEAR = 5
_MIN_LIKENESS = 0.4


class Lexicon:
    """Finds terms by title, alias and slug, in any case, in singular and plural.

    Args:
        store: the catalogue and the documents.
        names: what documents are called.
        standings: which documents hold.

    Attributes:
        unfinished: what is said of terms while a part of the base is not indexed; else an empty
            text.
    """

    unfinished: Callable[[], str] = staticmethod(str)

    def __init__(self, store: Store, names: Names, standings: Standings) -> None:
        self._store = store
        self._names = names
        self._standings = standings
        self._said: dict[str, tuple[DocumentEntry, str]] = {}

    async def define(self, term: str, up_to: Tier) -> Definition:
        """The definition of a term, or the terms that come near it.

        Args:
            term: the term, or a question for it, such as "What is a DAO?"; what is called like
                the whole question comes first.
            up_to: the tier of the caller.

        Raises:
            ToolFailed: ``invalid_query``, as a search does.
        """
        term = check_question(term)
        tags = self._called(term, up_to)
        if not tags and (asked := _term_in(term)):
            term, tags = asked, self._called(asked, up_to)
        found = await self._with_bodies(tags[:1], up_to)
        if found:
            return Definition(found=True, entry=found[0])
        near = self._near(term, up_to)
        message = f'Term "{term}" not found in lexicon. {self.unfinished()}'.strip()
        return Definition(found=False, message=message, near=near or None)

    async def search(self, keyword: str, up_to: Tier) -> Terms:
        """The terms that a keyword finds: by name first, then by description and definition.

        Raises:
            ToolFailed: ``invalid_query``, as a search does.
        """
        sought = normal_form(check_question(keyword))
        terms = list(self._terms(up_to))
        said = await self._definitions(terms, up_to)
        ranked = [
            (rank, entry.title.lower(), entry)
            for entry in terms
            if (rank := _rank(sought, entry, said[entry.key])) is not None
        ]
        ranked.sort(key=lambda one: one[:2])
        best = [entry for _, _, entry in ranked[:MAX_RESULTS]]
        found = await self._with_bodies(best, up_to)
        return Terms(results=found, note=self.unfinished() or None)

    def titles(self, up_to: Tier) -> list[str]:
        """The terms, as titles, that a caller of this tier may see."""
        return [one_line(entry.title) for entry in self._terms(up_to)]

    def _called(self, term: str, up_to: Tier) -> list[DocumentEntry]:
        return [one for one in self._names.find(term, up_to) if _is_term(one)]

    async def _definitions(self, terms: Sequence[DocumentEntry], up_to: Tier) -> dict[str, str]:
        """The words of each term's definition; read again where the term has changed."""
        stale = [one for one in terms if self._said.get(one.key, (None,))[0] is not one]
        documents = await self._store.documents([one.key for one in stale], up_to)
        for entry, document in zip(stale, documents, strict=True):
            text = " ".join(words(_plain(document))) if document else ""
            self._said[entry.key] = entry, text
        return {one.key: self._said[one.key][1] for one in terms}

    def _terms(self, up_to: Tier) -> Iterable[DocumentEntry]:
        return (entry for entry in self._store.entries(up_to) if _is_term(entry))

    def _near(self, term: str, up_to: Tier) -> list[str]:
        sought = _trigrams(normal_form(term))
        alike = [
            (
                max(_likeness(sought, normal_form(name)) for name in names(entry)),
                one_line(entry.title),
            )
            for entry in self._terms(up_to)
        ]
        alike.sort(key=lambda one: (-one[0], one[1]))
        return [title for likeness, title in alike[:_MAX_NEAR] if likeness >= _MIN_LIKENESS]

    async def _with_bodies(self, entries: Sequence[DocumentEntry], up_to: Tier) -> list[Term]:
        documents = await self._store.documents([entry.key for entry in entries], up_to)
        return [
            _term(document, self._standings.of(document, up_to))
            for document in documents
            if document is not None
        ]


def _is_term(entry: DocumentEntry) -> bool:
    return entry.content_type == ContentType.TAG


def _plain(document: Document) -> str:
    return plain(document.content, labels(document.content))


def _term(document: Document, standing: DocumentStanding | None) -> Term:
    related = getattr(document.metadata, "related_terms", None)
    return Term(
        term=one_line(document.title),
        id=document.id,
        definition=_plain(document).strip() or document.description,
        aliases=[alias.lstrip("#") for alias in document.aliases] or None,
        related_terms=related or None,
        standing=standing,
    )


def _term_in(question: str) -> str:
    """The term that a question asks for, or an empty text."""
    found = (
        _TERM_QUESTION.fullmatch(question) if len(question) <= _MAX_QUESTION_CHARACTERS else None
    )
    return found["term"] if found else ""


def _rank(sought: str, entry: DocumentEntry, definition: str) -> int | None:
    """How directly a keyword finds a term: 0 by its whole name, 4 by its definition."""
    called = [normal_form(name) for name in names(entry)]
    tests = (
        sought in called,
        any(name.startswith(sought) for name in called),
        any(sought in name for name in called),
        sought in normal_form(entry.description),
        sought in definition,
    )
    return next((rank for rank, holds in enumerate(tests) if holds and sought), None)


def _trigrams(name: str) -> frozenset[str]:
    padded = f"  {name} "
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))


def _likeness(sought: frozenset[str], name: str) -> float:
    """The Dice coefficient of two names' trigrams, 0 to 1."""
    other = _trigrams(name)
    return 2 * len(sought & other) / (len(sought) + len(other))
