"""Applies a file's diff to its indexed content.

A hunk is applied where its header says, or else where its lines occur exactly once in the file.
There is no fuzzy matching: an ambiguous place is a conflict, and then the indexed content is used
(kap10, "Conflict resolution").
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

from plugins.codegraph.workspaces.diff import FileDiff, Hunk

_REDACTED = re.compile(r"\[REDACTED[^\]\n]*\]")
"""The placeholder for a secret that the portal removed from a diff; the file itself still has
it."""


class Conflict(Exception):
    """The file does not match the diff; the message says where."""


def apply(content: bytes | None, diff: FileDiff) -> bytes | None:
    """The content of a file after a change.

    Args:
        content: the indexed content at the old path; None if there is none.
        diff: the change.

    Returns:
        The new content; None if the file is deleted. A change that the content already has counts
        as applied.

    Raises:
        Conflict: it does not match.
    """
    if diff.new is None:
        return None
    if diff.old is None:
        return _added(diff)
    if content is None:
        raise Conflict("the file is not in the graph")
    if diff.new_blob and _is_blob(content, diff.new_blob):
        return content
    exact = bool(diff.old_blob) and _is_blob(content, diff.old_blob)
    lines = _lines(content)
    try:
        return _joined(_applied(lines, diff.hunks, exact), _ends(diff, content))
    except Conflict:
        if diff.hunks and _has_it(lines, diff.hunks):
            return content
        raise


def _added(diff: FileDiff) -> bytes:
    lines = [text for hunk in diff.hunks for mark, text in hunk.lines if mark == "+"]
    open_ = bool(diff.hunks) and diff.hunks[-1].new_open
    return _joined(lines, open_)


def _is_blob(content: bytes, name: str) -> bool:
    """Whether an abbreviated blob id is that of this content."""
    if not name.strip("0"):
        return False
    kind = "sha256" if len(name) > 40 else "sha1"
    head = b"blob %d\0" % len(content)
    digest = hashlib.new(kind, head + content, usedforsecurity=False).hexdigest()
    return digest.startswith(name)


def _lines(content: bytes) -> list[str]:
    """The lines without newlines; invalid UTF-8 is kept as surrogates."""
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _joined(lines: Sequence[str], open_: bool) -> bytes:
    if not lines:
        return b""
    text = "\n".join(lines) + ("" if open_ else "\n")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair in the diff
        return text.encode("utf-8", "replace")


def _ends(diff: FileDiff, content: bytes) -> bool:
    """Whether the new file's last line has no newline."""
    if diff.hunks:
        last = diff.hunks[-1]
        if last.new_open:
            return True
        if last.old_open:
            return False
    return bool(content) and not content.endswith(b"\n")


def _applied(lines: list[str], hunks: Sequence[Hunk], exact: bool) -> list[str]:
    done: list[str] = []
    at = shift = 0
    for hunk in hunks:
        old = [text for mark, text in hunk.lines if mark != "+"]
        start = _place(lines, old, hunk, at, shift, exact)
        shift = start - _first(hunk)
        done += lines[at:start]
        done += _replaced(lines[start : start + len(old)], hunk)
        at = start + len(old)
    return done + lines[at:]


def _first(hunk: Hunk) -> int:
    """The index of a hunk's first line in the old file."""
    has_old = any(mark != "+" for mark, _ in hunk.lines)
    return hunk.old_start - 1 if has_old else hunk.old_start


def _place(
    lines: Sequence[str], old: Sequence[str], hunk: Hunk, after: int, shift: int, exact: bool
) -> int:
    """The index where a hunk begins in the file.

    Raises:
        Conflict: its lines do not occur after the previous hunk, or at several places.
    """
    expected = _first(hunk) + (0 if exact else shift)
    if after <= expected <= len(lines) - len(old) and _fits(lines, old, expected):
        if old or exact or not lines:
            return expected
        raise Conflict(f"line {hunk.old_start}: the change has no lines around it to go by")
    if exact:
        raise Conflict(f"line {hunk.old_start} is not as the diff has it")
    places = [at for at in range(after, len(lines) - len(old) + 1) if _fits(lines, old, at)]
    if len(places) == 1:
        return places[0]
    what = "are not in the file" if not places else f"stand at {len(places)} places"
    raise Conflict(f"line {hunk.old_start}: the lines around the change {what}")


def _fits(lines: Sequence[str], old: Sequence[str], at: int) -> bool:
    return all(_same(lines[at + place], text) for place, text in enumerate(old))


def _same(line: str, said: str) -> bool:
    if line == said:
        return True
    if line.removesuffix("\r") == said.removesuffix("\r"):
        return True
    if "\ufffd" in said or "[REDACTED" in said:
        return _pattern(said.removesuffix("\r")).fullmatch(line.removesuffix("\r")) is not None
    return False


@lru_cache(maxsize=256)
def _pattern(said: str) -> re.Pattern[str]:
    """Matches the lines that this one may have been before secrets or invalid bytes were
    replaced."""
    parts = [re.escape(part) for part in _REDACTED.sub("\ufffd", said).split("\ufffd")]
    return re.compile(".*".join(parts), re.DOTALL)


def _replaced(found: Sequence[str], hunk: Hunk) -> list[str]:
    """The new lines of a hunk; context lines are taken from the file."""
    kept = iter(found)
    pairs = [(mark, text, next(kept) if mark != "+" else "") for mark, text in hunk.lines]
    lost = any(was == f"{text}\r" for mark, text, was in pairs if mark != "+")
    ending = "\r" if lost else ""
    return [was if mark == " " else text + ending for mark, text, was in pairs if mark != "-"]


def _has_it(lines: Sequence[str], hunks: Sequence[Hunk]) -> bool:
    """Whether each hunk's new lines are already in place."""
    for hunk in hunks:
        new = [text for mark, text in hunk.lines if mark != "-"]
        at = hunk.new_start - 1 if new else hunk.new_start
        if not new or not 0 <= at <= len(lines) - len(new) or not _fits(lines, new, at):
            return False
    return True
