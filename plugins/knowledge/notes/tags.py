"""A note's tags: those that its frontmatter names, and those in its text, as Obsidian has them.

In a text ``#garden`` and ``#garden/beds`` are tags where they follow a space or begin a line, have
a sign that is no digit, and stand neither in code nor in HTML's own marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from plugins.knowledge.notes.comments import SPAN, blanked
from plugins.knowledge.notes.fences import Fences, Line
from plugins.knowledge.notes.fields import parse_tags

MAX_TAGS = 100
"""So many tags are taken from a note's text."""
_TAG = re.compile(r"(?<!\S)#(?P<tag>[\w/-]{1,100})(?![\w/-])")
_TAG_OR_ELSE = re.compile(rf"{SPAN}|<[^<>\n]{{1,500}}>|{_TAG.pattern}")
_INDENTED_CODE = re.compile(r"(?: {4}|\t)\s*+(?![-*+]\s|\d{1,9}[.)]\s)")
"""What begins a line of code without a fence; the items of lists in lists are none."""


def with_tags(
    fields: Mapping[str, Any], body: str, path: str, *, inline: bool
) -> Mapping[str, Any]:
    """The frontmatter's fields, with all tags of the note.

    Args:
        fields: what the frontmatter says.
        body: the text, without what is not meant for readers.
        path: the note's; posts of Jekyll have words for tags, which spaces part.
        inline: whether there are tags in the text.
    """
    written = fields.get("tags")
    if isinstance(written, str) and "_posts" in PurePosixPath(path).parts:
        return {**fields, "tags": written.split()}
    if not inline or not (found := list(dict.fromkeys(_in_text(body)))[:MAX_TAGS]):
        return fields
    try:
        tags = parse_tags(written)
    except ValueError:  # it is reported where it is read
        return fields
    known = {tag.casefold() for tag in tags}
    for tag in found:
        if tag.casefold() not in known:
            known.add(tag.casefold())
            tags.append(tag)
    return {**fields, "tags": tags}


def _in_text(body: str) -> Iterator[str]:
    if _TAG.search(body) is None:
        return
    fences, follows_text = Fences(), False
    for line in blanked(body).split("\n"):
        is_text = fences.read(line) is Line.TEXT
        is_code = _INDENTED_CODE.match(line) is not None and not follows_text
        follows_text = is_text and not is_code and bool(line.strip())
        if not is_text or is_code:
            continue
        for found in _TAG_OR_ELSE.finditer(line):
            if (tag := (found["tag"] or "").strip("/")) and not tag.isdigit():
                yield tag
