"""Text that is written from right to left, in the order in which it is read.

A PDF says where each letter stands, so a line is known as it is seen, from the left. Arabic and
Hebrew are read the other way, but for the numbers and the Latin words within them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, MutableMapping
from typing import Any

_CLASSES = {"R": "R", "AL": "R", "L": "L", "EN": "N", "AN": "N", "NSM": "M"}
"""The Unicode classes that matter here: letters of either direction, digits, marks on letters."""
_FROM_LEFT = re.compile(r"[LN]M*(?:[^R]*[LN]M*)?[%°]?")
_FROM_RIGHT = re.compile(r"RM*(?:[^L]*RM*)?")
_CLUSTER = re.compile(r".M*", re.DOTALL)
_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
"""Letters as they are drawn at one place of a word, of Hebrew and Arabic."""
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")


def is_from_right(text: str) -> bool:
    """Whether most letters of a text, in any order, are of a script written from the right."""
    classes = _classes(text)
    return "R" in classes and classes.count("R") >= classes.count("L")


def in_reading_order(seen: str) -> str:
    """A line of text as it is read.

    Args:
        seen: its characters from the left to the right.
    """
    classes = _classes(seen)
    if "R" not in classes:
        return seen
    if classes.count("R") >= classes.count("L"):
        return _reversed(seen, classes)
    parts: list[str] = []
    end = 0
    for run in _FROM_RIGHT.finditer(classes):
        parts += (seen[end : run.start()], _reversed(seen[run.start() : run.end()], run[0]))
        end = run.end()
    return "".join((*parts, seen[end:]))


def split_as_seen(letters: Iterable[MutableMapping[str, Any]]) -> None:
    """Have what one sign of a PDF stands for, such as a ligature, in the order that is seen.

    Args:
        letters: the signs of a page; their ``text`` is changed.
    """
    for letter in letters:
        text = letter["text"]
        if len(text) > 1 and is_from_right(text):
            letter["text"] = in_reading_order(text)


def _reversed(seen: str, classes: str) -> str:
    """A run from the right, in which what is read from the left stays so."""
    parts: list[str] = []
    end = 0
    for run in _FROM_LEFT.finditer(classes):
        parts += (_turned(seen, classes, end, run.start()), seen[run.start() : run.end()])
        end = run.end()
    parts.append(_turned(seen, classes, end, len(seen)))
    text = "".join(reversed(parts))
    return _FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def _turned(seen: str, classes: str, begin: int, end: int) -> str:
    """A part of a text backwards, its brackets turned round, and marks behind their letters."""
    clusters = [one.span() for one in _CLUSTER.finditer(classes, begin, end)]
    turned = "".join(seen[first:last] for first, last in reversed(clusters))
    return turned.translate(_MIRRORED)


def _classes(text: str) -> str:
    if text.isascii():
        return ""
    return "".join(_CLASSES.get(unicodedata.bidirectional(one), one) for one in text)
