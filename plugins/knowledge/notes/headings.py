"""The headings of a note in Markdown: ATX (``## Usage``) and Setext (``Usage`` above dashes).

Markdown lets several lines above dashes be one heading. Here it is a single line, as a writer means
it: a paragraph that somebody underlined by mistake stays the prose that it is, and is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plugins.knowledge.notes.fences import Fences, Line

# These patterns never look far ahead, so that a hostile line costs time by its length alone.
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.+)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})")
# What stands above dashes and is no heading: a list, a quotation, a table, HTML, a template's or
# an admonition's line, a label of a link, code by its indent, and a rule.
_OTHER = re.compile(
    r"\t| {4}| {0,3}(?:[-*+][ \t]|\d{1,9}[.)][ \t]|[>|<:]|\{[%{#:]|\[[^\[\]]{1,200}\]:"
    r"|[-*_=+ \t]*$)"
)
_LONGEST = 200
"""The most characters of a Setext heading: more is a paragraph that stands on one line."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading.

    Attributes:
        line: its first line, from 0.
        end: the line after it; a Setext heading has two.
        level: from 1 to 6.
        text: what it says, with its marks, without those that make it a heading.
    """

    line: int
    end: int
    level: int
    text: str


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """The headings outside of fenced code, in reading order.

    Args:
        lines: the note's, without its frontmatter.
    """
    fences, begins, at = Fences(), True, 0
    while at < len(lines):
        line = lines[at].rstrip()
        at += 1
        if fences.read(line) is not Line.TEXT:
            begins = True
        elif (found := _heading(lines, at - 1, line, begins)) is not None:
            yield found
            begins, at = True, found.end
        else:
            begins = not line


def atx(text: str) -> str:
    """A text with its Setext headings written as ATX ones; all else stays, to the letter.

    They get a closing sign, so that the last one of a name such as C# is not taken for it.
    """
    lines = text.split("\n")
    for found in reversed([*headings(lines)]):
        if found.end - found.line > 1:
            lines[found.line : found.end] = ["#" * found.level + f" {found.text} #"]
    return "\n".join(lines)


def _heading(lines: Sequence[str], at: int, line: str, begins: bool) -> Heading | None:
    """The heading at a line, where there is one; ``begins``: no other text ends right above it."""
    if match := _ATX.fullmatch(line):
        return Heading(at, at + 1, len(match[1]), _unclosed(match[2]))
    below = lines[at + 1].rstrip() if at + 1 < len(lines) else ""
    if not (begins and (match := _UNDERLINE.fullmatch(below))) or _OTHER.match(line):
        return None
    text = line.strip()
    if not text or len(text) > _LONGEST:
        return None
    return Heading(at, at + 2, 1 if match[1][0] == "=" else 2, text)


def _unclosed(text: str) -> str:
    """A heading's text without its closing signs, and with the sign of a name such as C#."""
    rest = text.rstrip("#")
    return rest.rstrip() if rest != text and rest[-1:] in ("", " ", "\t") else text
