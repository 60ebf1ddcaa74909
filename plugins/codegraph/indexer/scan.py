"""Which files a repository has: those that Git knows or would take, or those of a directory.

Nothing is opened here, only looked at (``lstat``). No symbolic link is followed, so nothing is
found twice, in a circle, or out of the tree.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec

from plugins.codegraph.git.command import GitFailed, git
from plugins.codegraph.indexer.gitignore import IgnoreRules, rules_in
from plugins.codegraph.indexer.paths import foreign_directory, holds_keys, looks_binary
from plugins.codegraph.model import FileReport

FRESH_NS = 1_000_000_000
"""Nanoseconds within which a file may change again and keep its time of change."""


HOLDS_KEYS = "a file of secrets, by its name"
"""Why such a file is left out."""


class Limits(msgspec.Struct, frozen=True, array_like=True):
    """What is indexed at most.

    Attributes:
        file: bytes of one file.
        files: how many files of one repository.
    """

    file: int = 2 * 1024 * 1024
    files: int = 200_000


class Found(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file that can be read, and what tells later whether it has changed.

    Attributes:
        path: from the root, with ``/``.
        size: its bytes.
        mtime: when it changed, in nanoseconds; 0 where that was so short ago that it may change
            once more without a difference.
        inode: its number in the file system.
    """

    path: str
    size: int
    mtime: int
    inode: int


class Scan(msgspec.Struct, frozen=True, array_like=True):
    """What is there.

    Attributes:
        found: the files to read, by path.
        skipped: what is left out and why; a directory of others' files once, with their number.
        commit, branch: where the checkout is, or "".
    """

    found: list[Found]
    skipped: list[FileReport]
    commit: str = ""
    branch: str = ""


class NoDirectory(Exception):
    """The directory to index is not there or may not be read; the message says what to do."""


async def scan(root: Path, limits: Limits, now: int) -> Scan:
    """List the files of a directory.

    Args:
        root: the directory.
        limits: what is indexed at most.
        now: the time, in nanoseconds since the epoch.

    Raises:
        NoDirectory: it is not there.
    """
    if not await asyncio.to_thread(os.path.isdir, root):
        raise NoDirectory(f"{root} is no directory, or may not be read. Check the path.")
    listing, head = await asyncio.gather(_git_files(root), _head(root))
    found, skipped = await asyncio.to_thread(_examined, root, listing, limits, now)
    return Scan(found, skipped, *head)


async def _git_files(root: Path) -> list[bytes] | None:
    """What Git knows or would take, or None where this is no checkout."""
    try:
        answer = await git(
            root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "."
        )
    except GitFailed:
        return None
    return sorted(set(answer.split(b"\0")) - {b""})


async def _head(root: Path) -> tuple[str, str]:
    try:
        answer = await git(root, "rev-parse", "HEAD", "--abbrev-ref", "HEAD")
    except GitFailed:
        return "", ""
    commit, _, branch = answer.decode("utf-8", "replace").strip().partition("\n")
    return commit, "" if branch == "HEAD" else branch


def _examined(
    root: Path, listing: list[bytes] | None, limits: Limits, now: int
) -> tuple[list[Found], list[FileReport]]:
    look = _Scanner(root, limits, now)
    look.all(_walked(root, look) if listing is None else listing)
    look.found.sort(key=lambda each: each.path)
    return look.found, look.reports()


class _Scanner:
    """Looks at one path after another."""

    def __init__(self, root: Path, limits: Limits, now: int) -> None:
        self._root = os.path.realpath(root)
        self._limits, self._now = limits, now
        self._skipped: list[FileReport] = []
        self._foreign: dict[str, int] = {}
        self.found: list[Found] = []
        # Many files share a directory; whether one is below a link is found out once.
        self._inside = cache(self._is_inside)

    def all(self, paths: Iterable[bytes]) -> None:
        """Look at all of them."""
        for path in paths:
            self.one(path)

    def one(self, raw: bytes) -> None:
        """Look at one path."""
        try:
            path = raw.decode("utf-8")
        except UnicodeDecodeError:
            self.skip(raw.decode("utf-8", "backslashreplace"), "its name is not UTF-8")
            return
        directory = foreign_directory(path)
        if directory is not None:
            self.foreign(directory)
            return
        try:
            status = os.lstat(os.path.join(self._root, path))  # noqa: PTH118 (5,000 of them)
        except FileNotFoundError:
            return  # deleted, and not yet committed so
        except (OSError, ValueError) as error:
            self.skip(path, f"it cannot be looked at: {getattr(error, 'strerror', error)}")
            return
        self._judge(path, status)

    def _judge(self, path: str, status: os.stat_result) -> None:
        reason = _kind_problem(status.st_mode) or self._problem(path, status.st_size)
        if reason:
            self.skip(path.rstrip("/"), reason, status.st_size)
            return
        fresh = abs(self._now - status.st_mtime_ns) < FRESH_NS
        mtime = 0 if fresh else changed(status)
        self.found.append(Found(path, status.st_size, mtime, signed(status.st_ino)))

    def _problem(self, path: str, size: int) -> str:
        if not self._inside(path.rpartition("/")[0]):
            return "it is below a symbolic link"
        if looks_binary(path):
            return "binary"
        if holds_keys(path):
            return HOLDS_KEYS
        if size > self._limits.file:
            return f"larger than {self._limits.file:,} bytes"
        if len(self.found) >= self._limits.files:
            return f"the repository has more than {self._limits.files:,} files"
        return ""

    def _is_inside(self, directory: str) -> bool:
        whole = os.path.join(self._root, directory) if directory else self._root  # noqa: PTH118
        return os.path.realpath(whole) == whole

    def skip(self, path: str, reason: str, size: int = 0) -> None:
        """Leave a file out."""
        self._skipped.append(FileReport(path, "", "", 0, size, reason, skipped=True))

    def foreign(self, directory: str, files: int = 1) -> None:
        """Leave out files of a directory of others' files."""
        self._foreign[directory] = self._foreign.get(directory, 0) + files

    def reports(self) -> list[FileReport]:
        """What was left out."""
        for directory, files in self._foreign.items():
            count = f"{files:,} files" if files != 1 else "1 file"
            told = count if files else "not counted"
            self.skip(f"{directory}/", f"dependencies, caches or build output: {told}")
        return sorted(self._skipped, key=lambda each: each.path)


def _kind_problem(mode: int) -> str:
    """Why a path is no file that can be read, or ""."""
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISLNK(mode):
        return "symbolic link"
    if stat.S_ISDIR(mode):
        return "a submodule or a repository of its own"
    return "not a regular file"


def changed(status: os.stat_result) -> int:
    """When a file changed, in nanoseconds, and never 0, which says that nobody can tell.

    What sdists are packed from may have files of the very first moment of 1970.
    """
    return status.st_mtime_ns or 1


def signed(inode: int) -> int:
    """An inode as a signed number, which is what a database holds."""
    return inode - (1 << 64) if inode >= 1 << 63 else inode


def _walked(root: Path, look: _Scanner) -> Iterator[bytes]:
    """The files of a directory that is no checkout, without what ``.gitignore`` names."""
    pending: list[tuple[str, IgnoreRules | None]] = [("", None)]
    while pending:
        directory, above = pending.pop()
        rules = rules_in(above, root, directory)
        try:
            entries = sorted(os.scandir(root / directory), key=lambda each: each.name)
        except OSError as error:
            look.skip(f"{directory}/", f"the directory cannot be read: {error.strerror}")
            continue
        for entry in entries:
            path = f"{directory}/{entry.name}" if directory else entry.name
            below = entry.is_dir(follow_symlinks=False)
            if rules.ignores(path, below):
                continue
            if not below:
                yield os.fsencode(path)
            elif foreign_directory(f"{path}/", built=True) is not None:
                look.foreign(path, 0)
            else:
                pending.append((path, rules))
