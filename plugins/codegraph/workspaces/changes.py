"""Reconstructs a sender's files from a diff and the index."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from plugins.codegraph.workspaces.artifacts import is_artifact
from plugins.codegraph.workspaces.diff import FileDiff, Section, read, sections
from plugins.codegraph.workspaces.patch import Conflict, apply

MAX_DIFF_BYTES = 50 * 1024
"""The most bytes of a diff without lockfiles and build output (kap10, ``sync_local_diff``)."""

Source = Callable[[str], Awaitable[bytes | None]]
"""``await source(path)``: the indexed content of a file, or None."""


class TooLarge(Exception):
    """The diff is too large, even without lockfiles and build output."""

    def __init__(self, kept: Sequence[Section]) -> None:
        self.bytes = sum(each.size for each in kept)
        largest = sorted(kept, key=lambda each: -each.size)[:5]
        self.largest = [(each.path, each.size) for each in largest]
        super().__init__(f"the diff has {self.bytes} bytes")


@dataclass(frozen=True, slots=True)
class Stripped:
    """A diff without lockfiles and build output.

    Attributes:
        kept: the other files.
        stripped: the paths of the lockfiles and build output.
    """

    kept: tuple[Section, ...]
    stripped: tuple[str, ...]

    @property
    def text(self) -> str:
        """The remaining diff; identical for identical changes."""
        return "\n".join("\n".join(each.text) for each in self.kept)

    @property
    def bytes(self) -> int:
        """The size of the remaining diff in UTF-8."""
        return sum(each.size for each in self.kept)


@dataclass(slots=True)
class Changes:
    """The differences from the index.

    Attributes:
        files: the new content of each path; None if the file is deleted.
        conflicts: why a file could not be changed, by path; its indexed content is used.
        skipped: why a file's content is not in the diff, by path.
    """

    files: dict[str, bytes | None] = field(default_factory=dict)
    conflicts: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)


def stripped(diff: str) -> Stripped:
    """Remove lockfiles and build output from a diff.

    Raises:
        BadDiff: it is not a Git diff.
        TooLarge: the rest is too large.
    """
    found = sections(diff)
    kept = [each for each in found if not is_artifact(each.path)]
    if sum(each.size for each in kept) > MAX_DIFF_BYTES:
        raise TooLarge(kept)
    left = [each.path for each in found if is_artifact(each.path)]
    return Stripped(tuple(kept), tuple(left))


async def changes(kept: Sequence[Section], source: Source) -> Changes:
    """Apply a diff to the index.

    Args:
        kept: the files of the diff.
        source: reads the index.

    Raises:
        BadDiff: a file's section is malformed.
    """
    found = Changes()
    for section in kept:
        diff = read(section)
        if problem := _outside(diff):
            found.conflicts[diff.path] = problem
        elif diff.unreadable:
            found.skipped[diff.path] = diff.unreadable
        else:
            await _change(found, diff, source)
    return found


async def _change(found: Changes, diff: FileDiff, source: Source) -> None:
    before = None if diff.old is None else await source(diff.old)
    try:
        after = apply(before, diff)
    except Conflict as conflict:
        found.conflicts[diff.path] = str(conflict)
        return
    if diff.old is not None and diff.old != diff.new and not diff.copied and before is not None:
        found.files[diff.old] = None
    if diff.new is None:
        return
    there = before if diff.new == diff.old else await source(diff.new)
    if after is not None and after != there:
        found.files[diff.new] = after


def _outside(diff: FileDiff) -> str:
    for path in (diff.old, diff.new):
        if path is not None and (path.startswith("/") or ".." in path.split("/") or "\0" in path):
            return "its path leads out of the repository"
    return ""
