"""What no reader sees: what stands between ``%%`` and ``%%``, as Obsidian has it, and HTML's.

Code is no comment, and what stands in a comment is no code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from plugins.knowledge.notes.fences import Fences, Line

_MARK = "%%"
SPAN = r"(?<!`)(?P<span>`{1,3})(?!`)[^\n]{1,500}?(?<!`)(?P=span)(?!`)"
"""Code within a line; it is never far to its end."""
_REMARK = re.compile(rf"{SPAN}|{_MARK}")
_HIDDEN = re.compile(rf"{SPAN}|<!--|\{{%-? {{0,9}}comment {{0,9}}-?%\}}")
_HTML_ENDS = re.compile("-->")
_TEMPLATE_ENDS = re.compile(r"\{%-? {0,9}endcomment {0,9}-?%\}")

_End = Callable[[re.Match[str]], int]
"""Where what begins somewhere ends; below 0 where it is no comment."""


def without_comments(text: str) -> str:
    """A note's text without Obsidian's comments; what stands in code stays as it is.

    A comment that begins a line and is never closed goes to the end of the note. Two percent signs
    within a line, which nothing closes, are none.

    Args:
        text: a note's body.
    """
    if _MARK not in text:
        return text

    def end(begins: re.Match[str]) -> int:
        closing = text.find(_MARK, begins.end())
        if closing < 0:
            return len(text) if _begins_a_line(text, begins.start()) else -1
        return closing + len(_MARK)

    kept: list[str] = []
    at = 0
    for start, ends in _comments(text, _REMARK, end):
        kept.append(text[at:start])
        at = ends
    return "".join([*kept, text[at:]]).strip("\n")


def blanked(text: str) -> str:
    """A text in whose place of each comment of HTML and Liquid stand its line's ends alone.

    Args:
        text: a note's body; its lines keep their numbers.
    """
    lost: set[re.Pattern[str]] = set()  # not there from some place on, so never again

    def end(begins: re.Match[str]) -> int:
        pattern = _HTML_ENDS if begins[0] == "<!--" else _TEMPLATE_ENDS
        found = None if pattern in lost else pattern.search(text, begins.end())
        if found is None:
            lost.add(pattern)
        return -1 if found is None else found.end()

    kept: list[str] = []
    at = 0
    for start, ends in _comments(text, _HIDDEN, end):
        kept += [text[at:start], "\n" * text.count("\n", start, ends)]
        at = ends
    return "".join([*kept, text[at:]])


def _comments(text: str, begins: re.Pattern[str], end: _End) -> Iterator[tuple[int, int]]:
    """Where the comments of a text begin and end, one after the other."""
    fences, at, after = Fences(), 0, 0
    for line in text.split("\n"):
        start, at = at, at + len(line) + 1
        if after >= at or (after <= start and fences.read(line) is not Line.TEXT):
            continue
        place = max(start, after)
        while (part := begins.search(text, place, at - 1)) is not None:
            place = part.end()
            if not part["span"] and (ends := end(part)) >= 0:
                yield part.start(), ends
                place = after = ends


def _begins_a_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()
