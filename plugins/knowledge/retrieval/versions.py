"""Several versions of one page: ``docs/v3.4/setup.md`` and ``docs/v3.5/setup.md`` answer as one.

Documentation is kept in a folder for each version, or in ``versioned_docs/`` beside the present one
as Docusaurus does it, and most pages say the same in all of them. So search answers with one of
them: that of the version which the question names, or else the newest that answers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gateway.contract import Tier
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.store import Store

MAX_WIDER = 4
"""So many times as much is compared where pages have as many versions, at most."""
PRESENT = "current"
"""What the version of a page outside of all folders of versions is called."""
_NEARLY = 0.85
"""The share of the best version's score that a newer one has to have: else it says it no more."""
_PER_VERSION = 0.04
"""What a page loses for each version between its own and the one that is wanted."""
_LEAST_WEIGHT = 0.7
_MAX_QUESTION = 500
"""The first characters of a question, in which versions are."""
_LEAST_YEAR = 1900
"""A folder ``2024.05`` is a month."""
_FOLDER = re.compile(
    r"(?P<mark>v|versions?[-_]?|releases?[-_]?)?(?P<numbers>\d{1,4}(?:\.(?:\d{1,4}|x)){0,3})"
    r"(?P<before>[-.]?(?:alpha|beta|rc|pre)[-.]?\d{0,3})?",
    re.IGNORECASE,
)
_DOCUSAURUS = re.compile(r"(?:website/)?versioned_docs/version-(?P<version>[^/]+)/")
_SITE = re.compile(r"(?:^|(?<=/))website/(?=docs/)")
_ASKED = re.compile(
    r"(?<![\w./-])(?P<mark>v|versions?[ -]|releases?[ -])?"
    r"(?P<numbers>\d{1,4}(?:\.(?:\d{1,4}|x)){0,3})(?![^\W_]|[./-]\d)",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"(?:\b(?:in|for|of|to|from|since|under|until|before|after)|\b[A-Z]\w+) $")
"""What stands before a number that is a version: "in 26", "Jest 26"."""
_AFTER = re.compile(r"\s*(?:$|[?.,;:!)])")
"""What may stand behind one: "is it in jest 26?"."""

Numbers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a page.

    Attributes:
        page: what all versions of the page have in common.
        family: what stands above the folder of the version; other folders are of other versions.
        written: the version as its folder has it.
        numbers: the same as numbers; none of the present one.
        is_released: whether it is no beta and the like.
    """

    page: str
    family: str = ""
    written: str = PRESENT
    numbers: Numbers = ()
    is_released: bool = True

    @property
    def order(self) -> tuple[bool, Numbers, bool]:
        """What tells the newer from the older; the present one is the newest."""
        return not self.numbers, self.numbers, self.is_released

    def is_named(self, asked: Collection[Numbers]) -> bool:
        """Whether a question names it: ``3.5.1`` and ``3`` both name ``v3.5``."""
        return _names(asked, self.numbers)


class Versions:
    """Which documents are versions of one page.

    Args:
        store: the catalogue.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._followed = -1
        self._known: dict[str, Version] = {}
        self._pages: defaultdict[str, set[str]] = defaultdict(set)
        self._several: set[str] = set()
        self._most = 1
        self._families: defaultdict[str, defaultdict[Numbers, set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )

    @property
    def wider(self) -> int:
        """How many times as much has to be compared, as pages come in several versions."""
        self._follow()
        return min(self._most, MAX_WIDER)

    def one_each(self, question: str, scores: Mapping[str, float]) -> dict[str, str]:
        """Which version is shown of each page that comes in several.

        Args:
            question: what was asked; it may name a version.
            scores: how well documents answer, by their keys.

        Returns:
            The key of the one that is shown, by the key of each document that has other versions.
        """
        self._follow()
        asked = versions_named(question)
        pages: defaultdict[str, list[str]] = defaultdict(list)
        for key in scores:
            if (known := self._known.get(key)) and known.page in self._several:
                pages[known.page].append(key)
        shown = ((keys, self._shown(keys, asked, scores)) for keys in pages.values())
        return {key: one for keys, one in shown for key in keys}

    def weights(self, question: str, keys: Iterable[str], up_to: Tier) -> dict[str, float]:
        """What is left of the scores of documents that the wanted version has not; else all.

        Args:
            question: what was asked; it may name a version, else the newest is wanted.
            keys: the documents, which the caller may see.
            up_to: the tier of the caller; a version of which they see nothing is none.
        """
        self._follow()
        asked = versions_named(question)
        known = {key: self._known[key] for key in keys if key in self._known}
        families = {each.family: self._newest_first(each.family, up_to) for each in known.values()}
        return {
            key: _weight(each.numbers, families[each.family], asked)
            for key, each in known.items()
            if each.family
        }

    def _newest_first(self, family: str, up_to: Tier) -> list[Numbers]:
        """The versions of a family of which a tier sees a page."""
        seen = (
            numbers
            for numbers, keys in self._families.get(family, {}).items()
            if any(self._store.entry(key, up_to) for key in keys)
        )
        return sorted(seen, reverse=True)

    def of(self, entry: DocumentEntry, up_to: Tier) -> tuple[str, list[str]]:
        """A document's version, and the others that there are of its page, the newest first.

        Args:
            entry: the document.
            up_to: the tier of the caller.

        Returns:
            An empty text and nothing, where there are no others.
        """
        self._follow()
        known = self._known.get(entry.key)
        keys = self._pages.get(known.page, set()) if known else set()
        seen = [key for key in keys if key != entry.key and self._store.entry(key, up_to)]
        others = sorted((self._known[key] for key in seen), key=lambda one: one.order, reverse=True)
        return known.written if known and others else "", [one.written for one in others]

    def _shown(
        self, keys: Sequence[str], asked: Collection[Numbers], scores: Mapping[str, float]
    ) -> str:
        named = [key for key in keys if self._known[key].is_named(asked)]
        least = _NEARLY * max(scores[key] for key in keys)
        answering = named or [key for key in keys if scores[key] >= least] or keys
        return max(answering, key=lambda key: (self._known[key].order, scores[key]))

    def _follow(self) -> None:
        """Take in what has changed in the catalogue, and only that."""
        if self._followed == self._store.version:
            return
        changed = self._store.changed_since(self._followed)
        if changed is None:
            changed = {*self._known, *(one.key for one in self._store.entries(Tier.MEMBERS))}
        self._followed = self._store.version
        if not self._known:  # most bases have no folder of a version, and nothing to remember
            entries = (self._store.entry(key, Tier.MEMBERS) for key in changed)
            if all(version_of(one).written == PRESENT for one in entries if one is not None):
                return
            changed = [one.key for one in self._store.entries(Tier.MEMBERS)]
        for key in changed:
            if (before := self._known.pop(key, None)) is not None:
                self._count(key, before, -1)
            if (entry := self._store.entry(key, Tier.MEMBERS)) is not None:
                self._known[key] = version_of(entry)
                self._count(key, self._known[key], 1)
        self._most = max((len(self._pages[page]) for page in self._several), default=1)

    def _count(self, key: str, known: Version, by: int) -> None:
        """Let a document be one of its page's versions, or no more."""
        keys = self._pages[known.page]
        (keys.add if by > 0 else keys.discard)(key)
        (self._several.add if len(keys) > 1 else self._several.discard)(known.page)
        if not keys:
            del self._pages[known.page]
        if known.family:
            versions = self._families[known.family]
            (versions[known.numbers].add if by > 0 else versions[known.numbers].discard)(key)
            if not versions[known.numbers]:
                del versions[known.numbers]


def _weight(own: Numbers, newest_first: Sequence[Numbers], asked: Collection[Numbers]) -> float:
    """What is left of the score of a page of one version among those that there are."""
    named = [at for at, one in enumerate(newest_first) if _names(asked, one)]
    away = min(abs(newest_first.index(own) - at) for at in named or [0])
    return max(_LEAST_WEIGHT, 1 - _PER_VERSION * away)


def version_of(entry: DocumentEntry) -> Version:
    """The version of a page that a document is, by the folders that it is in.

    What names a version in its title is a page of its own: release notes have one name in the
    folders of all releases.
    """
    named = sorted(versions_named(entry.title)) if any(map(str.isdigit, entry.title)) else ""
    title = f" {named}" if named else ""
    if found := _DOCUSAURUS.search(entry.path):
        page = f"{entry.path[: found.start()]}docs/{entry.path[found.end() :]}"
        return Version(page + title, "", found["version"], _numbers(found["version"]))
    *folders, file = entry.path.split("/")
    for at, folder in enumerate(folders):
        if (marked := _FOLDER.fullmatch(folder)) and _is_version(marked):
            page = "/".join((*folders[:at], *folders[at + 1 :], file))
            family = "" if title else f"{'/'.join(folders[:at])}/"
            numbers = _numbers(marked["numbers"])
            return Version(page + title, family, folder, numbers, not marked["before"])
    return Version(_SITE.sub("", entry.path) + title)


def versions_named(text: str) -> set[Numbers]:
    """The versions that a text names, as numbers; one without a dot has to be told by the rest."""
    text = text[:_MAX_QUESTION]
    return {
        _numbers(found["numbers"])
        for found in _ASKED.finditer(text)
        if found["mark"]
        or "." in found["numbers"]
        or _BEFORE.search(text[: found.start()])
        or (found.start() > 0 and _AFTER.match(text, found.end()))
    }


def _names(asked: Collection[Numbers], own: Numbers) -> bool:
    return bool(own) and any(own[: len(one)] == one[: len(own)] for one in asked)


def _is_version(folder: re.Match[str]) -> bool:
    """Whether a folder is one of a version; a number alone may be a chapter, a day or a year."""
    numbers = folder["numbers"]
    return bool(folder["mark"]) or ("." in numbers and _numbers(numbers)[0] < _LEAST_YEAR)


def _numbers(written: str) -> Numbers:
    return tuple(int(one) for one in re.findall(r"\d{1,4}", written)[:4])
