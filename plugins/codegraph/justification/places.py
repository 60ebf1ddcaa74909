"""What the path of a file says: a feature, a technology, helpers, things of the domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from plugins.codegraph.justification import technologies
from plugins.codegraph.justification.words import (
    GENERIC,
    HELPERS,
    MIGRATED,
    MODELLED,
    SERVED,
    segments,
    singular,
    words,
)
from plugins.codegraph.tools.paths import is_test_file


@dataclass(frozen=True, slots=True)
class Place:
    """What a path says.

    Attributes:
        technology: what it provides, or "".
        sure: whether a whole name says so, and not one of its words.
        feature: the topmost name that is in no other project, or "".
        helpers, served, modelled: whether it says that helpers, what users reach, or things of the
            domain are in it.
    """

    technology: str
    sure: bool
    feature: str
    helpers: bool
    served: bool
    modelled: bool


MIGRATION: Final = Place(technologies.DATABASE, True, "", False, False, False)
"""What the path of a step from one schema to the next says, whatever the step is called."""


class Places:
    """Reads paths.

    Args:
        around: folders that most of the code is in (:func:`around`).
    """

    def __init__(self, around: Collection[str]) -> None:
        self.around = around
        self._known: dict[str, Place] = {}

    def of(self, path: str) -> Place:
        """What a path says."""
        if path not in self._known:
            self._known[path] = self._read(path)
        return self._known[path]

    def _read(self, path: str) -> Place:
        if not MIGRATED.isdisjoint(segments(path)[:-1]):
            return MIGRATION
        parts = [each for each in segments(path) if each not in self.around]
        technology, at, sure = _technology(parts)
        telling = [
            each
            for each in parts
            if each not in GENERIC
            and each not in HELPERS
            and not each[0].isdigit()
            and technologies.BY_WORD.get(each) is None
            and not set(words(each)) <= GENERIC
        ]
        last = parts[-1] if parts else ""
        # What stands below `cli/` and has a name of its own is not only about the command line.
        below = any(each in telling for each in parts[at + 1 :])
        return Place(
            technology,
            sure and not below,
            telling[0] if telling else "",
            any(_helps(each) for each in parts[-2:]),
            any(each in SERVED for each in parts),
            last in MODELLED or any(each in MODELLED for each in parts[-2:]),
        )


def of_tests(path: str) -> bool:
    """Whether a file holds tests, or what they need."""
    return is_test_file(path) or path.rpartition("/")[2].split(".")[0] in ("test", "tests")


def _helps(part: str) -> bool:
    """Whether a part of a path says that helpers are in it."""
    return part.endswith(("utils", "util", "helpers")) or not HELPERS.isdisjoint(words(part))


def _technology(parts: list[str]) -> tuple[str, int, bool]:
    """The technology that a path names, which part does, and whether the whole part does."""
    for at, each in reversed(list(enumerate(parts))):
        if found := technologies.BY_WORD.get(each) or technologies.BY_WORD.get(singular(each)):
            return found, at, True
    for at, each in reversed(list(enumerate(parts))):
        for word in words(each):
            if found := technologies.BY_WORD.get(word):
                return found, at, False
    return "", -1, False


def around(paths: Collection[str]) -> frozenset[str]:
    """Folders that most of the code is in: the project's own name.

    Args:
        paths: the paths of all files with code.
    """
    counts: Counter[str] = Counter()
    for path in paths:
        counts.update(set(segments(path)[:-1][:3]))
    return frozenset(name for name, count in counts.items() if count > 0.5 * len(paths))
