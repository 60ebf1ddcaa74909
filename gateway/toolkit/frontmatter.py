"""Markdown files with YAML between two lines of ``---``.

:func:`decode` a file, :func:`split` it, then :func:`read` what stands between the lines. Of 18,427
real ``SKILL.md`` files 8 % hold no strict YAML, mostly for an unquoted colon in a description;
:func:`read_leniently` gives what their authors meant, and says that it had to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gateway.toolkit import yaml_lines
from gateway.toolkit.yaml_lines import Broken, Mapping, Numbers, Scalar, core_number

FIRST_LINE = 2
"""The line of a file on which its frontmatter begins."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How a file in UTF-16 begins; without it, every other byte of Latin text is zero."""
_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_CLOSING_DASHES = re.compile(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_ENTRY = re.compile(r"([A-Za-z][\w-]{0,63}):(?=[ \t\n]|\Z)")
_NO_TEXT = frozenset({"&", "*", "!", "{", "[", "|", ">", "'", '"'})
"""How a value begins that is more than a text: what is refused in it is refused here as well."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The two parts of a file.

    Attributes:
        front: what stands between the lines of ``---``; None where the file begins with no such.
        body: the text below, or the whole.
        body_line: the line on which the body begins, from 1.
    """

    front: str | None
    body: str
    body_line: int


@dataclass(frozen=True, slots=True)
class Lenient:
    """What was read of a frontmatter that may be no strict YAML.

    Attributes:
        fields: its fields.
        notice: why it is no YAML, and where, if its lines had to be read one by one; else None.
    """

    fields: Mapping
    notice: Broken | None = None


def decode(data: bytes) -> str:
    """A file as text: without a byte order mark, and with line feeds as its line ends.

    Raises:
        Broken: it is not UTF-8.
    """
    if data.startswith(_UTF_16) or data.count(0) * 4 > len(data):
        raise Broken(1, "it seems to be UTF-16; save the file as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        shown = f"0x{data[error.start]:02X}"
        raise Broken(line, f"not UTF-8 (byte {shown}); save the file as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split(text: str, *, dots: bool = True) -> Parts:
    """Split a file into its frontmatter and its body.

    Args:
        text: as :func:`decode` gives it.
        dots: whether a line of ``...`` closes the frontmatter too, as YAML has it.

    Raises:
        Broken: the frontmatter is never closed.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return Parts(None, text, 1)
    closing = (_CLOSING if dots else _CLOSING_DASHES).search(text, opening.end())
    if closing is None:
        raise Broken(1, "the frontmatter that begins here is never closed with ---")
    line = text.count("\n", 0, closing.end()) + 1
    return Parts(text[opening.end() : closing.start()], text[closing.end() :], line)


def read(front: str, *, numbers: Numbers = core_number, first_line: int = FIRST_LINE) -> Mapping:
    """The fields of a frontmatter in strict YAML; none where it is empty.

    Args:
        front: what stands between the lines.
        numbers: which plain words are numbers (``yaml_lines.py``).
        first_line: the line of the file on which it begins.

    Raises:
        Broken: it is not YAML, or not made of ``key: value`` lines.
    """
    root = yaml_lines.read(front, first_line, numbers=numbers)
    if root is None:
        return Mapping(first_line - 1)
    if not isinstance(root, Mapping):
        raise Broken(root.line, "the frontmatter is not made of `key: value` lines")
    return root


def read_leniently(front: str, *, numbers: Numbers = core_number) -> Lenient:
    """The fields of a frontmatter: of strict YAML where it is that, else line by line.

    A value that is no YAML by itself, such as one with a colon in it, is the text that stands
    there, as its author and most clients read it. Values that are more than a text (lists, quotes,
    blocks) have to be YAML even so.

    Args:
        front: what stands between the lines.
        numbers: which plain words are numbers (``yaml_lines.py``).

    Raises:
        Broken: something else than ``key: value`` lines stands there, or a key twice.
    """
    try:
        return Lenient(read(front, numbers=numbers))
    except Broken as broken:
        fields = _line_by_line(front, numbers)
        if fields is None:
            raise
        return Lenient(fields, broken)


def _line_by_line(front: str, numbers: Numbers) -> Mapping | None:
    """What each entry says by itself; None where one of them cannot be understood."""
    fields = Mapping(FIRST_LINE)
    for line, entry in _entries(front):
        match = _ENTRY.match(entry)
        if match is None or match[1] in fields.items:
            return None
        try:
            fields.items.update(read(entry, numbers=numbers, first_line=line).items)
        except Broken:
            value = " ".join(entry[match.end() :].split())
            if value[:1] in _NO_TEXT or not value.isprintable():
                return None
            fields.items[match[1]] = Scalar(line, value, value)
        fields.lines[match[1]] = line
    return fields


def _entries(front: str) -> Iterator[tuple[int, str]]:
    """The parts of a text that begin without a space, each with its line in the file."""
    begun, entry = FIRST_LINE, ""
    for number, line in enumerate(front.splitlines(keepends=True), FIRST_LINE):
        if line.strip() and not line[0].isspace() and line[0] != "#":
            if entry.strip():
                yield begun, entry
            begun, entry = number, line
        elif entry:
            entry += line
    if entry.strip():
        yield begun, entry
