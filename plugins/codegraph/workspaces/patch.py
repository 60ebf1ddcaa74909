"""Applies what a diff says of a file to the content that the graph was made from.

A hunk goes where its head says, or where its lines stand elsewhere in the file, once and no more.
It is never bent to fit: a place that could be another one is a conflict, and then the indexed file
is what holds (kap10, "Conflict resolution").
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

from plugins.codegraph.workspaces.diff import FileDiff, Hunk

_REDACTED = re.compile(r"\[REDACTED[^\]\n]*\]")
"""What stands where the portal has taken a secret out of a diff; the file itself has it still."""


class Conflict(Exception):
    """The file is not as the diff has it; the message says where."""


def apply(content: bytes | None, diff: FileDiff) -> bytes | None:
    """The content of a file after a change.

    Args:
        content: what the file holds in the graph, by its old path; None where it is not there.
        diff: the change.

    Returns:
        The new content; None where the file is deleted. A change that the file already has is
        applied.

    Raises:
        Conflict: it does not fit.
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
    """Whether git calls this content by that (shortened) name."""
    if not name.strip("0"):
        return False
    kind = "sha256" if len(name) > 40 else "sha1"
    head = b"blob %d\0" % len(content)
    digest = hashlib.new(kind, head + content, usedforsecurity=False).hexdigest()
    return digest.startswith(name)


def _lines(content: bytes) -> list[str]:
    """The lines, without their newlines; what is no UTF-8 survives as surrogates."""
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
    except UnicodeEncodeError:  # half a character, which came with the diff
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
    """Where a hunk begins in the file.

    Raises:
        Conflict: its lines stand nowhere after the hunk before it, or at several places.
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
    """What a line may have been, of which something was lost on the way."""
    parts = [re.escape(part) for part in _REDACTED.sub("\ufffd", said).split("\ufffd")]
    return re.compile(".*".join(parts), re.DOTALL)


def _replaced(found: Sequence[str], hunk: Hunk) -> list[str]:
    """The new lines of a hunk; what stays is as it stands in the file."""
    kept = iter(found)
    pairs = [(mark, text, next(kept) if mark != "+" else "") for mark, text in hunk.lines]
    lost = any(was == f"{text}\r" for mark, text, was in pairs if mark != "+")
    ending = "\r" if lost else ""
    return [was if mark == " " else text + ending for mark, text, was in pairs if mark != "-"]


def _has_it(lines: Sequence[str], hunks: Sequence[Hunk]) -> bool:
    """Whether each hunk's new lines stand where they should."""
    for hunk in hunks:
        new = [text for mark, text in hunk.lines if mark != "-"]
        at = hunk.new_start - 1 if new else hunk.new_start
        if not new or not 0 <= at <= len(lines) - len(new) or not _fits(lines, new, at):
            return False
    return True
