"""The headings of a note in Markdown: ATX (``## Usage``) and Setext (``Usage`` above dashes).

Markdown lets several lines above dashes be one heading. Here it is a single line, as a writer means
it: a paragraph that somebody underlined by mistake stays the prose that it is, and is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gateway.toolkit.anchors import stated
from plugins.knowledge.notes.fences import Fences, Line

MAX_SECTIONS = 5_000
"""Headings of a document that begin a section; the rest are lines of the last one. Each section
costs time and memory of its own, however little it says."""

# These patterns never look far ahead, so that a hostile line costs time by its length alone.
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.+)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})")
# What stands above dashes and is no heading: a list, a quotation, a table, HTML, a template's or
# an admonition's line, a label of a link, code by its indent, and a rule.
_OTHER = re.compile(
    r"\t| {4}| {0,3}(?:[-*+][ \t]|\d{1,9}[.)][ \t]|[>|<:]|\{[%{#:]|\[[^\[\]]{1,200}\]:"
    r"|[-*_=+ \t]*$)"
)
_HTML = re.compile(
    r"([ \t]{0,20}(?:</?[a-z][^<>]{0,300}>[ \t]{0,20}){0,4}?)<h([1-6])(?:\s[^<>]{0,500})?>",
    re.IGNORECASE,
)
_LINES_IN_HTML = 4
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
        attributes: what stands in braces at its end (``{#id .class}``), which is no text of it.
        id: what its author calls it in addresses, or an empty text.
        rest: of a heading in HTML, what else stands on its lines.
    """

    line: int
    end: int
    level: int
    text: str
    attributes: str = ""
    id: str = ""
    rest: str = ""

    @property
    def in_html(self) -> bool:
        """Whether it is written in HTML."""
        return bool(self.rest)


def headings(lines: Sequence[str], *, html: bool = False) -> Iterator[Heading]:
    """The headings outside of fenced code, in reading order.

    Args:
        lines: the note's, without its frontmatter.
        html: whether those in HTML count too.
    """
    fences, begins, at = Fences(), True, 0
    while at < len(lines):
        line = lines[at].rstrip()
        at += 1
        if fences.read(line) is not Line.TEXT:
            begins = True
        elif (found := _heading(lines, at - 1, line, begins)) is not None or (
            html and (found := _in_html(lines, at - 1)) is not None
        ):
            yield found
            begins, at = True, found.end
        else:
            begins = not line


def _heading(lines: Sequence[str], at: int, line: str, begins: bool) -> Heading | None:
    """The heading at a line, where there is one; ``begins``: no other text ends right above it."""
    if match := _ATX.fullmatch(line):
        return _stated(at, at + 1, len(match[1]), _unclosed(match[2]))
    below = lines[at + 1].rstrip() if at + 1 < len(lines) else ""
    if not (begins and (match := _UNDERLINE.fullmatch(below))) or _OTHER.match(line):
        return None
    text = line.strip()
    if not text or len(text) > _LONGEST:
        return None
    return _stated(at, at + 2, 1 if match[1][0] == "=" else 2, text)


def _stated(line: int, end: int, level: int, said: str) -> Heading:
    text, attributes, id = stated(said)
    return Heading(line, end, level, text, attributes, id)


def _in_html(lines: Sequence[str], at: int) -> Heading | None:
    """The heading in HTML that begins at a line; the tags around it may stand there too."""
    if (begins := _HTML.match(lines[at])) is None:
        return None
    ends = f"</h{begins[2]}>"
    held = [lines[at][begins.end() :]]
    while ends not in held[-1].lower() and len(held) < _LINES_IN_HTML:
        following = lines[at + len(held)] if at + len(held) < len(lines) else ""
        if not following.strip():
            return None
        held.append(following)
    where = held[-1].lower().find(ends)
    text = " ".join((*held[:-1], held[-1][:where])).strip()
    if where < 0 or not text:
        return None
    rest = f"{begins[1]}\n{held[-1][where + len(ends) :]}"
    return Heading(at, at + len(held), int(begins[2]), text, rest=rest)


def _unclosed(text: str) -> str:
    """A heading's text without its closing signs, and with the sign of a name such as C#."""
    rest = text.rstrip("#")
    return rest.rstrip() if rest != text and rest[-1:] in ("", " ", "\t") else text
