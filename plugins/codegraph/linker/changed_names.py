"""Which names of a file mean something else than before, so that only who says them links anew.

What belongs to no name, such as a call at the top level, may give any of them another meaning. So
it is in languages other than Python, where a type may fit an interface that it does not name.
"""

from __future__ import annotations

from typing import Final

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.languages import effects
from plugins.codegraph.languages.python.builtins import METHODS
from plugins.codegraph.linker.interface_parts import Body, InterfaceParts

LANGUAGES: Final = frozenset({"python"})
EXPORTS: Final = "__all__"
_PUSHES: Final = frozenset(name for name, effect in METHODS.items() if effect == effects.PUSH)
_NONE: Final = Body()


def changed_names(before: FileFacts, after: FileFacts) -> frozenset[str] | None:
    """The top-level names of a file that may mean something else than before.

    Args:
        before: the facts of the file as it was.
        after: its facts now.

    Returns:
        The names: another file is linked to the same as before if neither it says one of them, nor
        any of the files that its links depend on. None if any name may be concerned.
    """
    if {before.language, after.language} - LANGUAGES:
        return None
    return _Comparison(*(InterfaceParts(each, _PUSHES) for each in (before, after))).names()


class _Comparison:
    """Compares two interfaces of one file."""

    def __init__(self, old: InterfaceParts, new: InterfaceParts) -> None:
        self._sides = old, new
        every = old.names.keys() | new.names.keys()
        self._pairs = {
            each: (old.names.get(each, _NONE), new.names.get(each, _NONE)) for each in every
        }
        self._changed = {each for each, (was, now) in self._pairs.items() if was != now}

    def names(self) -> frozenset[str] | None:
        """As :func:`changed_names`."""
        old, new = self._sides
        if old.rest.pieces != new.rest.pieces or EXPORTS in self._changed:
            return None
        waiting = list(self._changed)
        found: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            if any(_says(side.rest_words, name) for side in self._sides):
                return None
            waiting += [*self._given(name), *self._saying(name, found)]
        return frozenset(found)

    def _given(self, name: str) -> set[str]:
        """The names to whose meaning this one adds: something else than before, where its own code
        is another; where it is the same, what it adds may be."""
        was, now = self._pairs.get(name, (_NONE, _NONE))
        touches = was.touches ^ now.touches if name in self._changed else was.touches | now.touches
        return {touched for touched, _ in touches}

    def _saying(self, name: str, but: set[str]) -> list[str]:
        """The other names whose code says this one."""
        others = self._pairs.keys() - but - {EXPORTS}
        return [
            each
            for each in others
            if any(_says(side.words.get(each, set()), name) for side in self._sides)
        ]


def _says(words: set[str], name: str) -> bool:
    """Whether a name is among words, or in one: a type may be written as a text."""
    return name in words or any(name in word for word in words)
