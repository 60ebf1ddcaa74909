"""What stands between ``%%`` and ``%%``, as Obsidian has it: remarks that no reader sees."""

from __future__ import annotations

import re

_MARK = "%%"
# A fence, code within a line, or what begins a comment. None of it looks far ahead.
_PART = re.compile(
    r"^[ \t]*(?:[-*+>][ \t]+)?(?:(?P<fence>`{3,})[^`\n]*|(?P<tildes>~{3,})[^\n]*)$"
    r"|(?<!`)(?P<span>`{1,3})(?!`)[^\n]{1,500}?(?<!`)(?P=span)(?!`)"
    rf"|{_MARK}",
    re.MULTILINE,
)


def without_comments(text: str) -> str:
    """A note's text without its comments; what stands in code stays as it is.

    A comment that begins a line and is never closed goes to the end of the note. Two percent signs
    within a line, which nothing closes, are none.

    Args:
        text: a note's body.
    """
    if _MARK not in text:
        return text
    kept: list[str] = []
    begun = at = 0
    while (part := _PART.search(text, at)) is not None:
        at = part.end()
        if fence := part["fence"] or part["tildes"]:
            at = _after_code(text, at, fence)
        elif not part["span"]:
            closing = text.find(_MARK, at)
            if closing < 0 and _begins_a_line(text, part.start()):
                closing = len(text)
            elif closing < 0:
                break
            kept.append(text[begun : part.start()])
            begun = at = min(closing + len(_MARK), len(text))
    return "".join([*kept, text[begun:]]).strip("\n")


def _after_code(text: str, at: int, fence: str) -> int:
    """Where the code ends that a fence has begun."""
    closes = re.compile(rf"^[ \t>]*{fence[0]}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
    found = closes.search(text, at)
    return len(text) if found is None else found.end()


def _begins_a_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()
