"""What documents are called: titles, aliases and ids, compared without case and number.

One table of names serves search (a question that is a name) and the lexicon. It is made from the
store's catalogue and follows its changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from gateway.contract import Tier
from gateway.toolkit.words import words
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import Entry
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.store import Store

MAX_ALIASES = 20
"""Aliases of a document that count: no document is called everything."""
_MAX_NAME_CHARACTERS = 200
_MAX_NAME_WORDS = 5
_MAX_QUESTION_WORDS = 60


@lru_cache(maxsize=65_536)
def normal_form(name: str) -> str:
    """The form in which names are compared: lower-case words, the last one in the singular.

    ``#DAOs``, ``dao`` and ``daos`` have one form. The rule for the singular is applied to both
    sides, so that it need not know English, only be the same.
    """
    found = words(one_line(name).replace("-", " ").replace("_", " "))
    if found:
        found[-1] = _singular(found[-1])
    return " ".join(found)


def names(entry: Entry) -> Iterator[str]:
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
        self._known: dict[str, Entry] = {}
        self._ranks: defaultdict[str, dict[str, int]] = defaultdict(dict)

    def find(self, name: str, up_to: Tier) -> list[Entry]:
        """The entries called so that a caller of this tier may see, by title before alias or id."""
        return [entry for _, entry in self._ranked(name, up_to)]

    def best(self, name: str, up_to: Tier) -> list[Entry]:
        """Of these the ones that have it for a title; where none has, all."""
        found = self._ranked(name, up_to)
        return [entry for rank, entry in found if rank == found[0][0]]

    def _ranked(self, name: str, up_to: Tier) -> list[tuple[int, Entry]]:
        if len(name) > _MAX_NAME_CHARACTERS:
            return []
        self._follow()
        ranks = self._ranks.get(normal_form(name), {})
        keys = sorted(ranks, key=lambda key: (ranks[key], key))
        entries = ((ranks[key], self._store.entry(key, up_to)) for key in keys)
        return [(rank, entry) for rank, entry in entries if entry is not None]

    def other_names(self, question: str, up_to: Tier) -> list[str]:
        """What the lexicon also calls the terms that a question has, so that both are sought."""
        self._follow()
        asked = words(question)[:_MAX_QUESTION_WORDS]
        found: dict[str, None] = {}
        for start in range(len(asked)):
            for end in range(start + 1, min(start + _MAX_NAME_WORDS, len(asked)) + 1):
                name = " ".join([*asked[start : end - 1], _singular(asked[end - 1])])
                for key in self._ranks.get(name, ()):
                    entry = self._store.entry(key, up_to)
                    if entry is not None and entry.content_type == ContentType.TAG:
                        found |= dict.fromkeys(one for one in names(entry))
        return [name for name in found if normal_form(name) not in " ".join(asked)]

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
                for name in _forms(before):
                    self._forget(name, key)
                for rank, name in enumerate(_forms(now)):
                    self._ranks[name][key] = min(rank, 1)
            if now is not None:
                self._known[key] = now

    def _forget(self, name: str, key: str) -> None:
        del self._ranks[name][key]
        if not self._ranks[name]:
            del self._ranks[name]


def _forms(entry: Entry | None) -> list[str]:
    """What a document is called, in the form for comparing, none twice, the title first."""
    return list(dict.fromkeys(normal_form(name) for name in names(entry))) if entry else []


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    if len(word) > 2 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
