"""Parses Git's unified diffs.

The format is that of git-diff(1) and diff-format. The content of a section is parsed only on
demand, so that a lockfile of a megabyte costs no more than finding its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from plugins.codegraph.workspaces import diff_paths

_BEGIN = "diff --git "
_COMBINED = ("diff --cc ", "diff --combined ")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_INDEX = re.compile(r"index ([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d{6}))?")
_MODE = re.compile(r"(old mode|new mode|new file mode|deleted file mode) (\d{6})")
_HEADERS = (
    *("old mode ", "new mode ", "new file mode ", "deleted file mode ", "index ", "--- ", "+++ "),
    *("rename ", "copy ", "similarity ", "dissimilarity ", "Binary files ", "GIT binary patch"),
    *("warning: ", "hint: "),
)
_NO_NEWLINE = "\\"
_LINK, _SUBMODULE = "120000", "160000"


class BadDiff(ValueError):
    """It is not a Git diff; the message names the line."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk.

    Attributes:
        old_start, new_start: its first line, from 1; if it has none on that side, the line before.
        lines: each with its mark: `` `` for context, ``-`` for removed, ``+`` for added.
        old_open, new_open: whether the last line of that side has no newline.
    """

    old_start: int
    new_start: int
    lines: tuple[tuple[str, str], ...]
    old_open: bool = False
    new_open: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """The part of a diff about one file, before its content is parsed.

    Attributes:
        line: where it begins in the diff, from 1.
        text: its lines.
        old, new: the file's path before and after; None where it does not exist.
        size: its bytes in UTF-8.
    """

    line: int
    text: tuple[str, ...]
    old: str | None
    new: str | None
    size: int

    @property
    def path(self) -> str:
        """The new path, or the old one if the file is deleted."""
        return self.new or self.old or ""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The change of one file.

    Attributes:
        old, new: its path before and after; None where it does not exist.
        hunks: the hunks, in order.
        copied: whether the old file stays in place.
        old_blob, new_blob: the abbreviated blob ids before and after; or "".
        unreadable: why its content is not in the diff (binary, a link, a submodule, unmerged);
            or "".
    """

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...] = ()
    copied: bool = False
    old_blob: str = ""
    new_blob: str = ""
    unreadable: str = ""

    @property
    def path(self) -> str:
        """The new path, or the old one if the file is deleted."""
        return self.new or self.old or ""


def sections(diff: str) -> list[Section]:
    """Split a diff into sections, one per file.

    Args:
        diff: the output of ``git diff``.

    Raises:
        BadDiff: it does not start like a diff, or a file's name is malformed.
    """
    lines = diff.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if lines and all(line.endswith("\r") for line in lines):
        lines = [line[:-1] for line in lines]  # added by a terminal, not part of the files
    starts = [at for at, line in enumerate(lines) if line.startswith((_BEGIN, *_COMBINED))]
    if not starts and not diff.strip():
        return []
    for at, line in enumerate(lines[: starts[0] if starts else None]):
        if line.strip() and not _is_noise(line):
            raise BadDiff(
                f"Line {at + 1} is no part of a git diff: {line[:60]!r}. Send what `git diff HEAD` "
                "prints, from its first `diff --git` on."
            )
    ends = [*starts[1:], len(lines)]
    return [_section(at, lines[at:end]) for at, end in zip(starts, ends, strict=True)]


def read(section: Section) -> FileDiff:
    """Parse a section.

    Raises:
        BadDiff: a hunk is truncated or malformed.
    """
    if section.text[0].startswith(_COMBINED):
        return FileDiff(section.old, section.new, unreadable="it has unmerged changes")
    found = FileDiff(section.old, section.new)
    at = 1
    while at < len(section.text) and not section.text[at].startswith("@@ "):
        if not section.text[at].startswith(_HEADERS):
            raise _bad(section, at, "is no part of a file's header")
        found = _with_header(found, section.text[at])
        if found.unreadable:
            return found
        at += 1
    return replace(found, hunks=tuple(_hunks(section, at)))


def _is_noise(line: str) -> bool:
    return line.startswith(("warning: ", "* Unmerged path ", "hint: "))


def _section(at: int, text: Sequence[str]) -> Section:
    size = sum(len(line.encode("utf-8", "surrogatepass")) + 1 for line in text)
    header = list(_header(text))
    if text[0].startswith(_COMBINED):
        path = diff_paths.unquoted(text[0].split(" ", 2)[2].rstrip("\r"))
        return Section(at + 1, tuple(text), path, path, size)
    both = _moved(header) or _named(text[0].removeprefix(_BEGIN).rstrip("\r"), header)
    if both is None:
        raise BadDiff(f"Line {at + 1} names no file that can be read: {text[0][:120]!r}.")
    added = any(line.startswith("new file mode ") for line in header)
    deleted = any(line.startswith("deleted file mode ") for line in header)
    old, new = both
    return Section(at + 1, tuple(text), None if added else old, None if deleted else new, size)


def _header(text: Sequence[str]) -> Iterator[str]:
    for line in text[1:]:
        if line.startswith(("@@ ", "GIT binary patch")):
            return
        yield line.rstrip("\r")


def _moved(header: Sequence[str]) -> tuple[str, str] | None:
    """The old and new name of a renamed or copied file, from lines that have no prefixes."""
    found: dict[str, str] = {}
    for line in header:
        for word in ("rename", "copy"):
            for side in ("from", "to"):
                if line.startswith(f"{word} {side} "):
                    found[side] = diff_paths.unquoted(line.split(" ", 2)[2])
    return (found["from"], found["to"]) if len(found) == 2 else None


def _named(rest: str, header: Sequence[str]) -> tuple[str, str] | None:
    """The name, twice, of a file that was neither renamed nor copied."""
    old = next((diff_paths.marked(line[4:]) for line in header if line.startswith("--- ")), None)
    new = next((diff_paths.marked(line[4:]) for line in header if line.startswith("+++ ")), None)
    if old and new and diff_paths.NULL not in (old, new):
        return diff_paths.without_prefixes(old, new)
    if of_header := diff_paths.of_header(rest):
        return of_header
    known = next((each for each in (new, old) if each and each != diff_paths.NULL), None)
    return None if known is None else (diff_paths.plain(known, True),) * 2


def _with_header(found: FileDiff, line: str) -> FileDiff:
    line = line.rstrip("\r")
    if match := _INDEX.match(line):
        found = replace(found, old_blob=match[1], new_blob=match[2])
        return _with_mode(found, match[3])
    if match := _MODE.match(line):
        return _with_mode(found, match[2])
    if line.startswith("copy from "):
        return replace(found, copied=True)
    if line.startswith(("Binary files ", "GIT binary patch")):
        return replace(found, unreadable="it is binary")
    return found


def _with_mode(found: FileDiff, mode: str | None) -> FileDiff:
    if mode == _LINK:
        return replace(found, unreadable="it is a symbolic link")
    if mode == _SUBMODULE:
        return replace(found, unreadable="it is a submodule")
    return found


def _hunks(section: Section, at: int) -> Iterator[Hunk]:
    text = section.text
    while at < len(text):
        match = _HUNK.match(text[at])
        if match is None:
            if text[at].strip() and not _is_noise(text[at]):
                raise _bad(section, at, "is no part of a hunk")
            at += 1
            continue
        hunk, at = _hunk(section, at + 1, match)
        yield hunk


def _hunk(section: Section, at: int, head: re.Match[str]) -> tuple[Hunk, int]:
    """Parse one hunk, whose header has its line counts; returns it and the line after it."""
    left = {"-": _count(head[2]), "+": _count(head[4])}
    lines: list[tuple[str, str]] = []
    open_: set[str] = set()
    while at < len(section.text):
        line = section.text[at]
        if line.startswith(_NO_NEWLINE) and lines:
            mark = lines[-1][0]
            open_ |= {"-", "+"} if mark == " " else {mark}
        elif left["-"] or left["+"]:
            lines.append(_line(section, at, left))
        else:
            break
        at += 1
    if left["-"] or left["+"]:
        raise _bad(section, at - 1, "ends in the middle of a hunk: the diff is cut short")
    start, new_start = int(head[1]), int(head[3])
    return Hunk(start, new_start, tuple(lines), "-" in open_, "+" in open_), at


def _line(section: Section, at: int, left: dict[str, int]) -> tuple[str, str]:
    # An empty line is a context line whose single space was stripped in transit.
    line = section.text[at] or " "
    mark = line[0] if line[0] != "\r" else " "
    if mark not in " +-":
        raise _bad(section, at, "is no line of a hunk")
    for side in "-+" if mark == " " else mark:
        left[side] -= 1
        if left[side] < 0:
            raise _bad(section, at, "is one more than the hunk's head says")
    return mark, line[1:] if line[0] != "\r" else line


def _count(stated: str | None) -> int:
    return 1 if stated is None else int(stated)


def _bad(section: Section, at: int, what: str) -> BadDiff:
    return BadDiff(
        f"Line {section.line + at} ({section.path}) {what}: {section.text[at][:60]!r}. Send the "
        "whole output of git diff, unchanged."
    )
