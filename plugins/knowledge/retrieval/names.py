"""What documents are called: titles, aliases and ids, compared without case and number.

One table of names serves search (a question that is a name), the lexicon and completion. It is
made from the store's catalogue and made anew when the catalogue has changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from gateway.contract import Tier
from plugins.knowledge.notes.documents import Entry
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.terms import words
from plugins.knowledge.store import Store

_LONGEST_NAME = 200


@lru_cache(maxsize=65_536)
def normal(name: str) -> str:
    """The form in which names are compared: lower-case words, the last one in the singular.

    ``#DAOs``, ``dao`` and ``daos`` have one form. The rule for the singular is applied to both
    sides, so that it need not know English, only be the same.
    """
    found = words(one_line(name).replace("-", " ").replace("_", " "))
    if found:
        found[-1] = _singular(found[-1])
    return " ".join(found)


def names(entry: Entry) -> Iterator[str]:
    """All that a document is called, the title first."""
    yield entry.title
    yield from entry.aliases
    yield entry.id


@dataclass(slots=True)
class _Table:
    version: int = -1
    keys: dict[str, list[str]] = field(default_factory=dict)


class Names:
    """Finds documents by what they are called.

    Args:
        store: the catalogue.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._table = _Table()

    def find(self, name: str, up_to: Tier) -> list[Entry]:
        """The entries called so that a caller of this tier may see, by title before alias or id."""
        if len(name) > _LONGEST_NAME:
            return []
        keys = self._current().keys.get(normal(name), ())
        entries = (self._store.entry(key, up_to) for key in keys)
        return [entry for entry in entries if entry is not None]

    def _current(self) -> _Table:
        if self._table.version != self._store.version:
            version = self._store.version
            titles: dict[str, list[str]] = defaultdict(list)
            others: dict[str, list[str]] = defaultdict(list)
            for entry in self._store.entries(Tier.MEMBERS):
                first, *rest = dict.fromkeys(normal(name) for name in names(entry))
                titles[first].append(entry.key)
                for name in rest:
                    others[name].append(entry.key)
            for name, keys in others.items():
                titles[name].extend(keys)
            self._table = _Table(version, dict(titles))
        return self._table


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    if len(word) > 2 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
