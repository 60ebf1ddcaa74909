"""Markdown files: YAML between two lines of ``---``, and a text below.

The text begins below the closing line; one empty line there and one line end at the very end are
layout, all else is the text's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from plugins.workflows.files import yaml_text
from plugins.workflows.files.nodes import Broken, Mapping

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Markdown:
    """A markdown file.

    Attributes:
        front: the fields above the text; none where there is no frontmatter.
        body: the text.
        line: where the text begins, from 1.
    """

    front: Mapping
    body: str
    line: int


def decoded(data: bytes) -> str:
    """A file as text: without a byte order mark, and with line feeds as its line ends.

    Raises:
        Broken: it is not UTF-8.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        shown = f"0x{data[error.start]:02X}"
        raise Broken(line, f"not UTF-8 (byte {shown}); save the file as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read(text: str) -> Markdown:
    """Split a file.

    Raises:
        Broken: the frontmatter is not closed, or is not made of ``key: value`` lines.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return Markdown(Mapping(1), text.removesuffix("\n"), 1)
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise Broken(1, "the frontmatter that begins here is never closed with ---")
    front = yaml_text.read(text[opening.end() : closing.start()], first_line=2)
    if front is not None and not isinstance(front, Mapping):
        raise Broken(front.line, "the frontmatter is not made of `key: value` lines")
    body = text[closing.end() :].removeprefix("\n").removesuffix("\n")
    line = text.count("\n", 0, closing.end()) + 1
    return Markdown(front or Mapping(1), body, line)


def write(front: dict[str, object], body: str) -> str:
    """A markdown file that :func:`read` splits into just these."""
    return f"---\n{yaml_text.write(front)}---\n\n{body}\n"
