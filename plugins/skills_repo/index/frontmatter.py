"""YAML frontmatter of files that come from many hands: never an exception, always an answer.

Values are read as JSON has them (YAML's core schema), so that a date stays the text that its
author wrote and the Skills extension can hand the mapping on unchanged. Anchors, tags and deep
nesting are refused: they can blow up without bound, and no skill needs them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

MOST_LEVELS = 20
"""How deep a frontmatter may nest."""
LARGEST = 64 * 1024
"""The bytes that a frontmatter may have."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPENING = re.compile(r"---[ \t]*(?:\n|\Z)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_ENTRY = re.compile(r"([A-Za-z][\w-]{0,63}):(?=[ \t\n]|\Z)")
_NO_TEXT = frozenset({"&", "*", "!", "{", "[", "|", ">", "'", '"'})
"""How a value begins that is more than a text: what is refused in it is refused here as well."""
_INTEGER = re.compile(r"[-+]?[0-9]{1,15}")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What a file says about itself.

    Attributes:
        fields: the mapping, in JSON values; empty where there is none or it cannot be read.
        lines: the line of each key, from 1.
        body: the text below it.
        body_line: the line on which the body begins, from 1.
        fault: why the frontmatter cannot be read, or an empty text.
        fault_line: where.
        present: whether the file begins with a frontmatter, readable or not.
        slip: why it is no YAML, where its lines could be read one by one all the same; the line is
            ``fault_line``.
    """

    fields: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    body: str = ""
    body_line: int = 1
    fault: str = ""
    fault_line: int = 1
    present: bool = False
    slip: str = ""

    def text(self, key: str) -> str | None:
        """A field as one text without spaces around it; None where it is none, or empty."""
        value = self.fields.get(key)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        return str(value).strip() or None


class _Broken(ValueError):
    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def read(data: bytes) -> Frontmatter:
    """Split a file into its frontmatter and its body.

    A byte order mark is dropped, Windows line ends become line feeds. A file that is no UTF-8
    text has neither frontmatter nor body, and a fault.

    Args:
        data: the whole file.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Frontmatter(fault="it is not UTF-8 text", fault_line=line)
    if "\0" in text:
        return Frontmatter(fault="it is not a text: it holds NUL bytes")
    return _split(text.replace("\r\n", "\n").replace("\r", "\n"))


def _split(text: str) -> Frontmatter:
    opening = _OPENING.match(text)
    if opening is None:
        return Frontmatter(body=text)
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        fault = "the frontmatter that begins here is never closed with ---"
        return Frontmatter(body=text, fault=fault, present=True)
    written, body = text[opening.end() : closing.start()], text[closing.end() :]
    below = text.count("\n", 0, closing.end()) + 1
    try:
        fields, lines = _mapping(written)
    except _Broken as error:
        said = str(error)
        if read := _line_by_line(written):
            fields, lines = read
            return Frontmatter(fields, lines, body, below, "", error.line, True, said)
        return Frontmatter({}, {}, body, below, said, error.line, present=True)
    return Frontmatter(fields, lines, body, below, present=True)


def _mapping(text: str) -> tuple[dict[str, Any], dict[str, int]]:
    if len(text) > LARGEST:
        raise _Broken(2, f"the frontmatter is longer than {LARGEST} characters")
    try:
        _refuse_traps(text)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _Broken(mark.line + 2 if mark else 2, f"broken YAML: {_said(error)}") from None
    except yaml.YAMLError as error:
        reason = getattr(error, "reason", "it cannot be read")
        raise _Broken(2, f"broken YAML: {reason}") from None
    if node is None:
        return {}, {}
    if not isinstance(node, yaml.MappingNode):
        raise _Broken(2, "the frontmatter is not made of `key: value` lines")
    lines = {str(key.value): key.start_mark.line + 2 for key, _ in node.value}
    return _value(node), lines


def _line_by_line(text: str) -> tuple[dict[str, Any], dict[str, int]] | None:
    """What ``key: value`` lines say that are no YAML together, as authors and clients read them.

    A value that is no YAML by itself, such as one with a colon in it, is the text that stands
    there. None where something else than such lines stands there, or a key stands there twice.
    """
    fields: dict[str, Any] = {}
    lines: dict[str, int] = {}
    if len(text) > LARGEST:
        return None
    for number, part in _entries(text):
        match = _ENTRY.match(part)
        if match is None or match[1] in fields:
            return None
        try:
            own, _ = _mapping(part)
            fields |= own
        except _Broken:
            value = " ".join(part[match.end() :].split())
            if value[:1] in _NO_TEXT or not value.isprintable():
                return None
            fields[match[1]] = value
        lines[match[1]] = number
    return fields, lines


def _entries(text: str) -> Iterator[tuple[int, str]]:
    """The parts of a text that begin without a space, each with its line in the file."""
    begun, part = 2, ""
    for number, line in enumerate(text.splitlines(keepends=True), 2):
        if line.strip() and not line[0].isspace() and line[0] != "#":
            if part.strip():
                yield begun, part
            begun, part = number, line
        elif part:
            part += line
    if part.strip():
        yield begun, part


def _refuse_traps(text: str) -> None:
    """Raise on what must not be composed, before it is."""
    depth = documents = 0
    for event in yaml.parse(text, Loader=_LOADER):
        line = event.start_mark.line + 2 if event.start_mark else 2
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if depth > MOST_LEVELS:
            raise _Broken(line, f"nested more than {MOST_LEVELS} levels deep")
        if documents > 1:
            raise _Broken(line, "a second YAML document begins here")
        if getattr(event, "anchor", None):
            raise _Broken(line, "anchors (&) and aliases (*) are not read; use quotes")
        if tag := getattr(event, "tag", None):
            raise _Broken(line, f"the tag {tag} is not read; use quotes")


def _said(error: yaml.MarkedYAMLError) -> str:
    """What the parser says, with a hint for the slip behind most of its complaints."""
    said = ", ".join(part for part in (error.context, error.problem) if part)
    if "mapping values are not allowed" in said:
        return f"{said}; put quotes around a text that holds a colon"
    return said


def _value(node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_value(each) for each in node.value]
    if isinstance(node, yaml.MappingNode):
        return _pairs(node)
    is_plain = not getattr(node, "style", None)
    return _scalar(node.value) if is_plain else node.value


def _pairs(node: yaml.MappingNode) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in node.value:
        line = key.start_mark.line + 2
        if not isinstance(key, yaml.ScalarNode):
            raise _Broken(line, "a key must be plain text; put quotes around {...} and [...]")
        if key.value in found:
            raise _Broken(line, f"the key {key.value!r} is here twice")
        found[key.value] = _value(value)
    return found


def _scalar(written: str) -> Any:
    if written in _WORDS:
        return _WORDS[written]
    if _INTEGER.fullmatch(written):
        return int(written)
    if _DECIMAL.fullmatch(written) and math.isfinite(number := float(written)):
        return number
    return written
