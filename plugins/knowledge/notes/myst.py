"""MyST: Markdown for Sphinx, with marks of its own that no reader sees (mystmd.org)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from plugins.knowledge.notes.fences import Fences, Line

_TARGET = re.compile(r"^ {0,3}\([\w.: -]{1,200}\)=[ \t]*$")
_DIRECTIVE = re.compile(r"^[ \t]{0,8}(?::{3,9}|`{3,9}|~{3,9})\{[a-zA-Z][\w:.-]{0,60}\}")
_ROLE = re.compile(r"(?<![\w`])\{[a-z][\w:.+-]{0,60}\}`[^`\n]")
_COMMENT = re.compile(r"^ {0,3}%(?![%}])")
_BREAK = re.compile(r"^ {0,3}\+{3,9}(?:[ \t][^\n]*)?$")

_BLOCK = re.compile(
    r"[ \t]{0,8}(?P<mark>(?P<sign>[`~:])(?P=sign){2,8})\{(?P<name>[a-zA-Z][\w:.-]{0,60})\}"
    r"[ \t]*(?P<title>[^`\n]*)"
)
_OPTION = re.compile(r"[ \t]*:[\w-]{1,40}:(?:[ \t][^\n]*)?")
_MAX_DEPTH = 4
_VERSIONS: Mapping[str, str] = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
    "deprecated-removed": "Deprecated since version",
}
"""What pages say of changes, as Sphinx has it for readers."""
_LISTS = frozenset({"toctree", "contents", "tableofcontents", "index", "meta"})
"""What readers see as a menu, or not at all."""
_PROSE = re.compile(
    "admonition|attention|caution|danger|error|hint|important|note|seealso|tip|warning|todo"
    "|sidebar|topic|dropdown|details|card|tab|tab-set|tab-item|grid|grid-item|margin|epigraph"
    "|glossary|pull-quote|highlights"
)
"""What holds text like any other; between backticks it would be code."""


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
    """The text without targets of links, comments, breaks and menus; code in fences stays.

    What directives hold is text, and in which version something is new is said in words.

    Args:
        text: the body of a note in MyST.
    """
    fences, kept = Fences(), list[str]()
    for line in _opened(text.split("\n"), 0):
        marks = (_TARGET, _COMMENT, _BREAK) if fences.read(line) is Line.TEXT else ()
        if not any(mark.match(line) for mark in marks):
            kept.append(line)
    return "\n".join(kept).strip("\n")


def _opened(lines: Sequence[str], depth: int) -> Iterator[str]:
    """The lines with the text of directives in their place."""
    fences, is_code, at = Fences(), False, 0
    while at < len(lines):
        block = None if is_code or depth > _MAX_DEPTH else _BLOCK.fullmatch(lines[at])
        if block is None or not _is_text(block["name"], block["sign"]):
            is_code = fences.read(lines[at]) in (Line.OPENS, Line.CODE)
            yield lines[at]
            at += 1
            continue
        end = _end(lines, at + 1, block["mark"])
        if block["name"] not in _LISTS:
            said = _VERSIONS.get(block["name"])
            yield from ("", f"{said} {block['title'].strip()}:" if said else block["title"])
            yield from _opened(_without_options(lines[at + 1 : end]), depth + 1)
            yield ""
        at = end + 1


def _is_text(name: str, sign: str) -> bool:
    """Whether a directive is put in words here; what stands between colons is text as it is."""
    is_prose = sign != ":" and _PROSE.fullmatch(name) is not None
    return is_prose or name in _VERSIONS or name in _LISTS


def _end(lines: Sequence[str], start: int, mark: str) -> int:
    """The line that closes a directive, or the one behind the last."""
    closing = (
        at
        for at in range(start, len(lines))
        if len(line := lines[at].strip()) >= len(mark) and not line.strip(mark[0])
    )
    return next(closing, len(lines))


def _without_options(lines: Sequence[str]) -> Sequence[str]:
    first = next((at for at, one in enumerate(lines) if not _OPTION.fullmatch(one)), len(lines))
    return lines[first:]
