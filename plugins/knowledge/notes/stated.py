"""What a text says of itself below its title, as records of decisions and minutes do.

``## Status`` with ``Superceded by [9. Help](0009-help.md)`` below it is how adr-tools writes it,
``* Status: accepted`` and ``Date: 2016-02-12`` below the title how MADR 2 and others do, and Notion
with ``Tags: people, welcome``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from plugins.knowledge.notes.fields import parse_date
from plugins.knowledge.notes.statuses import has_ended

MAX_LINES = 30
"""Lines of a text that are looked at."""
MAX_STATUS_CHARACTERS = 200
_LINE = re.compile(
    r" {0,3}(?:[-*+] )?\*{0,2}(?P<name>status|date|tags)\*{0,2}:\*{0,2}[ \t]*"
    r"(?P<said>\S[^\n]{0,200})",
    re.IGNORECASE,
)
_TITLE, _SECTION = re.compile(r"# "), re.compile(r"#{2,6} ")
_STATUS = re.compile(r"#{2,3} +status[ #]*", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(?:```|~~~)")


def with_stated(fields: Mapping[str, Any], body: str) -> Mapping[str, Any]:
    """The frontmatter's fields, and what the text states beside them.

    A note that says its type is written for Porch, and has its status where it belongs.

    Args:
        fields: what the frontmatter says.
        body: the text, without what is not meant for readers.
    """
    return fields if "type" in fields else {**stated(body), **fields}


def stated(body: str) -> Mapping[str, str | datetime]:
    """The status, the date and the tags that a text states, by their fields.

    Args:
        body: the text, without its frontmatter.
    """
    lines = body.lstrip().split("\n", MAX_LINES)[:MAX_LINES]
    if not _TITLE.match(lines[0]):
        return {}
    fence = next((at for at, line in enumerate(lines) if _FENCE.match(line)), len(lines))
    found: dict[str, str | datetime] = dict(_below_title(lines[1:fence]))
    if status := _of_section(lines[:fence]):
        found.setdefault("status", status)
    return found


def _below_title(lines: Sequence[str]) -> Iterator[tuple[str, str | datetime]]:
    """What stands in lines of their own before the first section."""
    for line in lines:
        if _SECTION.match(line):
            return
        if (written := _LINE.fullmatch(line.rstrip())) is None:
            continue
        said = written["said"].strip("* \t")
        if (name := written["name"].lower()) != "date":
            yield name, said
            continue
        with suppress(ValueError):  # it is prose then
            yield name, parse_date(said)


def _of_section(lines: Sequence[str]) -> str | None:
    """The status in a section of its own: of several lines the one that ends the document."""
    at = next((at for at, line in enumerate(lines) if _STATUS.fullmatch(line.strip())), None)
    if at is None:
        return None
    below: list[str] = []
    for line in lines[at + 1 :]:
        if _SECTION.match(line):
            break
        below += [line.strip()] if 0 < len(line.strip()) <= MAX_STATUS_CHARACTERS else []
    return next(filter(has_ended, below), below[0] if below else None)
