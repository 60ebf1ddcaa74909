"""YAML frontmatter of files that come from many hands: never an exception, always an answer.

Values are read as JSON has them (YAML's core schema), so that a date stays the text that its
author wrote and the Skills extension can hand the mapping on unchanged. Anchors, tags and deep
nesting are refused: they can blow up without bound, and no skill needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.toolkit import frontmatter
from gateway.toolkit.yaml_lines import Broken, plain

MAX_BYTES = 64 * 1024
"""The bytes that a frontmatter may have."""


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


def read(data: bytes) -> Frontmatter:
    """Split a file into its frontmatter and its body.

    A byte order mark is dropped, Windows line ends become line feeds. A file that is no UTF-8
    text has neither frontmatter nor body, and a fault.

    Args:
        data: the whole file.
    """
    try:
        text = frontmatter.decode(data)
    except Broken as broken:
        return Frontmatter(fault="it is not UTF-8 text", fault_line=broken.line)
    if "\0" in text:
        return Frontmatter(fault="it is not a text: it holds NUL bytes")
    try:
        parts = frontmatter.split(text)
    except Broken as broken:
        return Frontmatter(body=text, fault=broken.reason, present=True)
    if parts.front is None:
        return Frontmatter(body=text)
    try:
        found = _read(parts.front)
    except Broken as broken:
        below = parts.body, parts.body_line
        return Frontmatter({}, {}, *below, broken.reason, broken.line, present=True)
    notice = found.notice
    return Frontmatter(
        plain(found.fields),
        found.fields.lines,
        parts.body,
        parts.body_line,
        fault_line=notice.line if notice else 1,
        present=True,
        slip=notice.reason if notice else "",
    )


def _read(front: str) -> frontmatter.Lenient:
    if len(front) > MAX_BYTES:
        reason = f"the frontmatter is longer than {MAX_BYTES} characters"
        raise Broken(frontmatter.FIRST_LINE, reason)
    return frontmatter.read_leniently(front)
