"""MyST: Markdown for Sphinx, with marks of its own that no reader sees (mystmd.org)."""

from __future__ import annotations

import re

from plugins.knowledge.notes.fences import Fences, Line

_TARGET = re.compile(r"^ {0,3}\([\w.: -]{1,200}\)=[ \t]*$")
_DIRECTIVE = re.compile(r"^[ \t]{0,8}(?::{3,9}|`{3,9}|~{3,9})\{[a-zA-Z][\w:.-]{0,60}\}")
_ROLE = re.compile(r"(?<![\w`])\{[a-z][\w:.+-]{0,60}\}`[^`\n]")
_COMMENT = re.compile(r"^ {0,3}%(?![%}])")
_BREAK = re.compile(r"^ {0,3}\+{3,9}(?:[ \t][^\n]*)?$")


def is_myst(text: str) -> bool:
    """Whether a note is MyST: it has a target, a directive or a role in it.

    Args:
        text: a note's body.
    """
    if "{" not in text and ")=" not in text:
        return False
    fences = Fences()
    for line in text.split("\n"):
        is_text = fences.read(line) is Line.TEXT
        if _DIRECTIVE.match(line) or (is_text and (_TARGET.match(line) or _ROLE.search(line))):
            return True
    return False


def plain(text: str) -> str:
    """The text without targets of links, comments and breaks; what stands in fences stays.

    Args:
        text: the body of a note in MyST.
    """
    fences, kept = Fences(), list[str]()
    for line in text.split("\n"):
        marks = (_TARGET, _COMMENT, _BREAK) if fences.read(line) is Line.TEXT else ()
        if not any(mark.match(line) for mark in marks):
            kept.append(line)
    return "\n".join(kept).strip("\n")
