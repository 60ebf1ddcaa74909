"""What documents are called: titles, aliases and ids, compared without case and number.

One table of names serves search (a question that is a name) and the lexicon. It is made from the
store's catalogue and follows its changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain, islice

from gateway.contract import Tier
from gateway.toolkit.words import terms, words
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.retrieval.code_names import CodeName, code_names
from plugins.knowledge.retrieval.dated import days, days_of
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.numbered import numbers, numbers_of
from plugins.knowledge.retrieval.word_forms import singular
from plugins.knowledge.store import Store

MAX_ALIASES = 20
"""Aliases of a document that count, and numbers: no document is called everything."""
W_TERM = 1.0
"""The weight of a lexicon term's title that is sought too; a word of the question has 1."""
W_OTHER_NAME = 0.5
"""The greatest weight of a term's other name; of more than two, all together have 1."""
_MAX_NAME_CHARACTERS = 200
"""What is longer names nothing, and is not looked up."""
_MAX_NAME_WORDS = 5
"""Words of the longest name that is looked for within a question."""
_MAX_QUESTION_WORDS = 60
"""The first words of a question, among which names are looked for."""
_MAX_NUMBERED_CHARACTERS = 500
"""The first characters of a question, in which numbers and days are."""


@lru_cache(maxsize=65_536)
def normal_form(name: str) -> str:
    """The form in which names are compared: lower-case words, the last one in the singular.

    ``#DAOs``, ``dao`` and ``daos`` have one form.
    """
    found = words(one_line(name).replace("-", " ").replace("_", " "))
    if found:
        found[-1] = singular(found[-1])
    return " ".join(found)


def names(entry: DocumentEntry) -> Iterator[str]:
    """All that a document is called, the title first, as far as it counts."""
    yield entry.title
    yield from entry.aliases[:MAX_ALIASES]
    yield entry.id


class Names:
    """Finds documents by what they are called.

    Args:
        store: the catalogue.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version = -1
        self._known: dict[str, DocumentEntry] = {}
        self._ranks: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._tags: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)

    def find(self, name: str, up_to: Tier) -> list[DocumentEntry]:
        """The entries called so that a caller of this tier may see, by title before alias or id."""
        return [entry for _, entry in self._ranked(name, up_to)]

    def best(self, name: str, up_to: Tier) -> list[DocumentEntry]:
        """Of these the ones that have it for a title; where none has, all."""
        found = self._ranked(name, up_to)
        return [entry for rank, entry in found if rank == found[0][0]]

    def _ranked(self, name: str, up_to: Tier) -> list[tuple[int, DocumentEntry]]:
        if len(name) > _MAX_NAME_CHARACTERS:
            return []
        self._follow()
        ranks = self._ranks.get(normal_form(name), {})
        keys = sorted(ranks, key=lambda key: (ranks[key], key))
        entries = ((ranks[key], self._store.entry(key, up_to)) for key in keys)
        return [(rank, entry) for rank, entry in entries if entry is not None]

    def tagged(self, tag: str, up_to: Tier) -> list[DocumentEntry]:
        """The entries with a tag that a caller of this tier may see; case makes no difference."""
        if len(tag) > _MAX_NAME_CHARACTERS:
            return []
        self._follow()
        return self._shown(self._tags.get(normal_form(tag), ()), up_to)

    def numbered(self, question: str, up_to: Tier) -> list[DocumentEntry]:
        """The entries that go by a number or a day in a question, as far as this tier sees them."""
        self._follow()
        asked = question[:_MAX_NUMBERED_CHARACTERS]
        named = numbers(asked) | days(asked, datetime.now(UTC))
        keys = {key: None for number in sorted(named) for key in self._numbers.get(number, ())}
        return self._shown(keys, up_to)

    def coded(self, question: str, up_to: Tier) -> dict[CodeName, frozenset[str]]:
        """The names out of code in a question, each with the keys of what is called so."""
        return {
            name: frozenset(
                one.key for one in (() if name.is_word else self.find(name.written, up_to))
            )
            for name in code_names(question)
        }

    def other_names(self, question: str, up_to: Tier) -> dict[str, float]:
        """What the lexicon also calls the terms that a question has, so that both are sought.

        Returns:
            What each counts beside a word of the question: the community's own term as much as the
            other name by which it was asked for, and a term's other names together no more.
        """
        self._follow()
        asked = words(question)[:_MAX_QUESTION_WORDS]
        found: dict[str, float] = {}
        for start in range(len(asked)):
            for end in range(start + 1, min(start + _MAX_NAME_WORDS, len(asked)) + 1):
                name = " ".join([*asked[start : end - 1], singular(asked[end - 1])])
                if name in self._ranks and terms(name):  # a name of nothing but "the" is none
                    for entry in self._called(name, up_to):
                        found = _beside(entry) | found
        said = " ".join(asked)
        return {name: weight for name, weight in found.items() if normal_form(name) not in said}

    def _shown(self, keys: Iterable[str], up_to: Tier) -> list[DocumentEntry]:
        entries = (self._store.entry(key, up_to) for key in keys)
        return [entry for entry in entries if entry is not None]

    def _called(self, name: str, up_to: Tier) -> Iterator[DocumentEntry]:
        for key in self._ranks[name]:
            entry = self._store.entry(key, up_to)
            if entry is not None and entry.content_type == ContentType.TAG:
                yield entry

    def _follow(self) -> None:
        """Take in what has changed in the catalogue, and only that: a sync changes it often."""
        if self._version == self._store.version:
            return
        changed = self._store.changed_since(self._version)
        if changed is None:
            changed = {*self._known, *(one.key for one in self._store.entries(Tier.MEMBERS))}
        self._version = self._store.version
        for key in changed:
            before, now = self._known.pop(key, None), self._store.entry(key, Tier.MEMBERS)
            if now is not before:
                _replace(self._ranks, key, _forms(before), _forms(now))
                _replace(self._tags, key, _tags(before), _tags(now))
                _replace(self._numbers, key, _numbers(before), _numbers(now))
            if now is not None:
                self._known[key] = now


def _beside(entry: DocumentEntry) -> dict[str, float]:
    """What each name of a term counts where it is asked for by another one."""
    title, *others = names(entry)
    return {**dict.fromkeys(others, min(W_OTHER_NAME, 1 / len(others))), title: W_TERM}


def _replace(
    known: defaultdict[str, dict[str, int]], key: str, before: Iterable[str], now: Iterable[str]
) -> None:
    """Let a document be known by other names: by the first of them before it is by the rest."""
    for name in before:
        del known[name][key]
        if not known[name]:
            del known[name]
    for rank, name in enumerate(now):
        known[name][key] = min(rank, 1)


def _tags(entry: DocumentEntry | None) -> set[str]:
    """A document's tags, in the form for comparing."""
    return {form for tag in entry.tags if (form := normal_form(tag))} if entry else set()


def _numbers(entry: DocumentEntry | None) -> list[str]:
    """The numbers and days that a document goes by, none twice, as far as they count."""
    found = chain(numbers_of(entry), days_of(entry)) if entry else ()
    return list(islice(dict.fromkeys(found), MAX_ALIASES))


def _forms(entry: DocumentEntry | None) -> list[str]:
    """What a document is called, in the form for comparing, none twice, the title first."""
    return list(dict.fromkeys(normal_form(name) for name in names(entry))) if entry else []
