"""Markdown files: YAML between two lines of ``---``, and a text below.

The text begins below the closing line; one empty line there and one line end at the very end are
layout, all else is the text's own.
"""

from __future__ import annotations

from dataclasses import dataclass

from gateway.toolkit import frontmatter
from gateway.toolkit.yaml_lines import Mapping
from plugins.workflows.files import yaml_text


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


def read(text: str) -> Markdown:
    """Split a file.

    Raises:
        Broken: the frontmatter is not closed, or is not made of ``key: value`` lines.
    """
    parts = frontmatter.split(text, dots=False)
    if parts.front is None:
        return Markdown(Mapping(1), text.removesuffix("\n"), 1)
    front = frontmatter.read(parts.front, numbers=yaml_text.json_number)
    return Markdown(front, parts.body.removeprefix("\n").removesuffix("\n"), parts.body_line)


def write(front: dict[str, object], body: str) -> str:
    """A markdown file that :func:`read` splits into just these."""
    return f"---\n{yaml_text.write(front)}---\n\n{body}\n"
