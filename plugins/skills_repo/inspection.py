"""What members should mend in skills and agent profiles, by file and line (Agent Skills format)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from gateway.repositories import Entry
from plugins.skills_repo.index.build import PAGE_SUFFIXES, REPOSITORY_FILES, SKILL_FILE
from plugins.skills_repo.index.entries import Kind
from plugins.skills_repo.index.frontmatter import Frontmatter, read
from plugins.skills_repo.skills import description_problem, name_problem

MAX_COMPATIBILITY_CHARS = 500

_FENCE = re.compile(r"^[ \t]*(```+|~~~+)")
_CODE = re.compile(r"`[^`]*`")
_BARE = r"[^()<>\s]*(?:\([^()\s]*\)[^()<>\s]*)*"
_LINK = re.compile(rf"\]\(\s*(?:<([^<>]*)>|({_BARE}))(?:\s+[\"'(][^)]*)?\)")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|#|\?")
_PLACEHOLDER = re.compile(r"[{}$*]|\.\.\.|…")
_TEXTS = ("license", "compatibility", "allowed-tools", "argument-hint", "model")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something to mend: in which file, on which line from 1, and what is wrong."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


@dataclass(frozen=True, slots=True)
class _Link:
    path: str
    line: int
    target: str


class Inspection:
    """Takes the files of a source in, in any order, and finds what is wrong with them."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._problems: list[Problem] = []
        self._links: list[_Link] = []
        self._paths: set[str] = set()
        self._roots: set[str] = set()
        self.count = 0

    def take(self, path: str, entry: Entry) -> None:
        """Look at one file.

        Args:
            path: from the source's root.
            entry: the file.
        """
        self._paths.add(path)
        directory, _, name = path.rpartition("/")
        is_skill = self._kind == "skills" and name == SKILL_FILE
        self._roots |= {directory} if is_skill else set()
        if not path.endswith(PAGE_SUFFIXES):
            return
        self.count += is_skill or self._kind != "skills"
        if entry.content is None:
            self._problems.append(Problem(path, 1, f"{entry.size} bytes are too large to be read"))
            return
        found = read(entry.content)
        if self._kind == "skills":
            self._links += [_Link(path, line, target) for line, target in links(found)]
        if is_skill or self._kind != "skills":
            self._problems += _problems(path, found, self._kind)

    def problems(self) -> list[Problem]:
        """Everything that is wrong, by path and line."""
        return sorted({*self._problems, *self._broken_links()})

    def _broken_links(self) -> Iterator[Problem]:
        folders = {posixpath.dirname(path) for path in self._paths}
        there = self._paths | {each for path in folders for each in _folders(path)}
        for link in self._links:
            root = self._root(link.path)
            if root is None:
                continue
            # Within a skill, links count from its root; authors also write them from the file.
            bases = (posixpath.dirname(link.path), root)
            if not {_resolved(base, link.target) for base in bases} & there:
                yield Problem(link.path, link.line, f"the link to {link.target} leads nowhere")

    def _root(self, path: str) -> str | None:
        """The folder of the skill that a file belongs to."""
        return next(
            (each for each in _folders(posixpath.dirname(path)) if each in self._roots), None
        )


def links(found: Frontmatter) -> Iterator[tuple[int, str]]:
    """The relative links of a markdown text, each with its line, without those in code."""
    fence = ""
    for number, line in enumerate(found.body.split("\n"), found.body_line):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        elif not fence:
            for match in _LINK.finditer(_CODE.sub("", line)):
                written = match[1] or match[2] or "#"
                target = unquote(re.split(r"[#?]", written)[0])
                if not _ELSEWHERE.match(written) and not _PLACEHOLDER.search(target):
                    yield number, target


def _resolved(folder: str, target: str) -> str:
    path = posixpath.normpath(posixpath.join(folder, target))
    return "" if path == "." else path


def _folders(path: str) -> Iterator[str]:
    """A folder and all above it, the nearest first, down to the empty root."""
    while path:
        yield path
        path = posixpath.dirname(path)
    yield ""


def _problems(path: str, found: Frontmatter, kind: Kind) -> Iterator[Problem]:
    if found.fault:
        yield Problem(path, found.fault_line, found.fault)
        return
    if found.slip:
        yield Problem(path, found.fault_line, found.slip)
    if kind == "docs" or (kind == "agents" and not found.present and _is_about(path)):
        return
    if not found.present:
        yield Problem(path, 1, "it has no frontmatter with a name and a description")
        return
    fields = found.fields
    for key, reason in _name_problems(path, fields, kind):
        yield Problem(path, found.lines.get(key, 1), reason)
    if kind == "skills":
        for key, reason in _type_problems(fields):
            yield Problem(path, found.lines.get(key, 1), reason)


def _is_about(path: str) -> bool:
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return stem.lower() in REPOSITORY_FILES


def _name_problems(path: str, fields: Mapping[str, Any], kind: Kind) -> Iterator[tuple[str, str]]:
    name, description = fields.get("name"), fields.get("description")
    if kind == "agents":
        if name in (None, ""):
            yield "name", "its frontmatter has no name"
        if description in (None, ""):
            yield "description", "its frontmatter has no description"
        return
    folder = posixpath.basename(posixpath.dirname(path))
    if reason := name_problem(name):
        yield "name", reason
    elif folder and name != folder:
        yield "name", f"its name, {name}, is not that of its folder, {folder}"
    if reason := description_problem(description):
        yield "description", reason


def _type_problems(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the frontmatter's other fields must be."""
    for key in _TEXTS:
        if key in fields and not isinstance(fields[key], str):
            yield key, f"{key} is not a text; write it in one line, in quotes"
    compatibility = fields.get("compatibility")
    if isinstance(compatibility, str) and not 0 < len(compatibility) <= MAX_COMPATIBILITY_CHARS:
        yield (
            "compatibility",
            f"compatibility is not 1 to {MAX_COMPATIBILITY_CHARS} characters long",
        )
    if "user-invocable" in fields and not isinstance(fields["user-invocable"], bool):
        yield "user-invocable", "user-invocable is neither true nor false"
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        yield "metadata", "metadata is not made of `key: value` lines"
    elif wrong := [key for key, value in metadata.items() if not isinstance(value, str)]:
        yield "metadata", f"metadata.{wrong[0]} is not a text; put quotes around it"
