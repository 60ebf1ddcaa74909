"""Arguments laid out for somebody who decides about them: all of them, and nothing unseen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.toolkit.visible_text import pieces

Text = tuple[tuple[str, bool], ...]
"""Pieces of a text, each with whether it is the name of a character that cannot be seen."""

_LONG_CHARACTERS, _LONG_LINES = 600, 12


@dataclass(frozen=True, slots=True)
class Laid:
    """One value.

    Attributes:
        path: the keys that lead to it.
        kind: ``text``, ``number``, ``yes or no``, ``nothing``, ``empty list`` or ``empty object``.
        text: the value.
        is_long: whether it is worth folding.
    """

    path: tuple[Text, ...]
    kind: str
    text: Text
    is_long: bool = False


def shown(text: str) -> Text:
    """A text that somebody else chose, in pieces."""
    return tuple(pieces(text))


def laid_out(value: Any, path: tuple[Text, ...] = ()) -> Iterator[Laid]:
    """The values in some JSON, each with where it stands, in the order in which they were sent."""
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from laid_out(each, (*path, shown(str(key))))
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for number, each in enumerate(value, 1):
            yield from laid_out(each, (*path, shown(str(number))))
    else:
        yield _leaf(value, path)


def _leaf(value: Any, path: tuple[Text, ...]) -> Laid:
    if isinstance(value, str):
        is_long = len(value) > _LONG_CHARACTERS or value.count("\n") > _LONG_LINES
        return Laid(path, "text", shown(value) or (("", False),), is_long)
    kind = "number"
    if isinstance(value, bool):
        kind = "yes or no"
    elif value is None:
        kind = "nothing"
    elif not isinstance(value, int | float):
        kind = "empty object" if isinstance(value, Mapping) else "empty list"
    return Laid(path, kind, shown(json.dumps(value)))
