"""What fits into a box."""

from __future__ import annotations

from dataclasses import dataclass
from unicodedata import east_asian_width

MAX_CELLS = 34
"""The widest text of a box, in the width of a Latin letter; what is longer is cut."""
CELL_WIDTH, NOTE_CELL_WIDTH, PADDING = 7.3, 6.1, 10
"""In pixels: a letter of the first line, one of the second, and the space around both."""
_MIN_WIDTH = 60


@dataclass(frozen=True, slots=True)
class Label:
    """What is written in a box.

    Attributes:
        text, note: the two lines, cut.
        width: the box's width in pixels.
        whole: both lines uncut.
    """

    text: str
    note: str
    width: float
    whole: str


def label(text: str, note: str = "") -> Label:
    """What a box says, and how wide it is for it. Of a note, such as a path, the end counts."""
    shown, small = _start(text), _start(note[::-1])[::-1]
    width = max(_cells(shown) * CELL_WIDTH, _cells(small) * NOTE_CELL_WIDTH, _MIN_WIDTH)
    return Label(shown, small, width + 2 * PADDING, f"{text}\n{note}" if note else text)


def _start(text: str) -> str:
    """As much of a text as fits."""
    if _cells(text) <= MAX_CELLS:
        return text
    room = MAX_CELLS - 1
    for at, letter in enumerate(text):
        room -= _cells(letter)
        if room < 0:
            return text[:at] + "\u2026"
    return text


def _cells(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
