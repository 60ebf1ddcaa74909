"""Lists the files of a repository: those that Git tracks or would add, or those of a directory.

Files are not opened, only ``lstat``-ed. Symbolic links are not followed, so nothing is found
twice, in a cycle, or outside of the tree.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec

from gateway.toolkit.counts import counted
from plugins.codegraph.git.command import GitFailed, git
from plugins.codegraph.indexer.gitignore import IgnoreRules, rules_in
from plugins.codegraph.indexer.paths import foreign_directory, holds_keys, looks_binary
from plugins.codegraph.model import FileReport

FRESH_NS = 1_000_000_000
"""Nanoseconds within which a file may change again without a new modification time."""


HOLDS_KEYS = "a file of secrets, by its name"
IS_LINK, IS_REPOSITORY = "symbolic link", "a submodule or a repository of its own"
"""The reasons for skipping such files."""


class Limits(msgspec.Struct, frozen=True, array_like=True):
    """The limits of what is indexed.

    Attributes:
        file: the size of a file, in bytes.
        files: the number of files in a repository.
    """

    file: int = 2 * 1024 * 1024
    files: int = 200_000


class Found(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file that can be read, with what later shows whether it has changed.

    Attributes:
        path: relative to the root, with ``/``.
        size: in bytes.
        mtime: the modification time, in nanoseconds; 0 if that is so recent that the file may
            change again without a new time.
        inode: its inode number, signed.
    """

    path: str
    size: int
    mtime: int
    inode: int


class Scan(msgspec.Struct, frozen=True, array_like=True):
    """The files on disk.

    Attributes:
        found: the files to read, by path.
        skipped: what is left out and why; a third-party directory once, with its number of files.
        commit, branch: the state of the checkout, or "".
    """

    found: list[Found]
    skipped: list[FileReport]
    commit: str = ""
    branch: str = ""


class NoDirectory(Exception):
    """The directory to index does not exist or may not be read; the message says what to do."""


async def scan(root: Path, limits: Limits, now: int) -> Scan:
    """List the files of a directory.

    Args:
        root: the directory.
        limits: the limits of what is indexed.
        now: the time, in nanoseconds since the epoch.

    Raises:
        NoDirectory: it does not exist or may not be read.
    """
    if not await asyncio.to_thread(os.path.isdir, root):
        raise NoDirectory(f"{root} is no directory, or may not be read. Check the path.")
    listing, head = await asyncio.gather(_git_files(root), _head(root))
    found, skipped = await asyncio.to_thread(_examined, root, listing, limits, now)
    return Scan(found, skipped, *head)


async def _git_files(root: Path) -> list[bytes] | None:
    """The files that Git tracks or would add, or None where this is not a checkout."""
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


class PathSifter:
    """Sifts a repository's paths: what is read, and why the rest is left out.

    Args:
        limits: the limits of what is indexed.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._skipped: list[FileReport] = []
        self._foreign: dict[str, int] = {}
        self.found: list[Found] = []

    def path(self, raw: bytes) -> str | None:
        """A path as text; None if its name alone has it left out."""
        try:
            path = raw.decode("utf-8")
        except UnicodeDecodeError:
            self.skip(raw.decode("utf-8", "backslashreplace"), "its name is not UTF-8")
            return None
        directory = foreign_directory(path)
        if directory is not None:
            self.foreign(directory)
            return None
        return path

    def problem(self, path: str, size: int) -> str:
        """Why a file is left out, by its name and its size in bytes, or ""."""
        if looks_binary(path):
            return "binary"
        if holds_keys(path):
            return HOLDS_KEYS
        if size > self._limits.file:
            return f"larger than {self._limits.file:,} bytes"
        if len(self.found) >= self._limits.files:
            return f"the repository has more than {self._limits.files:,} files"
        return ""

    def skip(self, path: str, reason: str, size: int = 0) -> None:
        """Skip a file."""
        self._skipped.append(FileReport(path, "", "", 0, size, reason, skipped=True))

    def foreign(self, directory: str, files: int = 1) -> None:
        """Skip files of a third-party directory."""
        self._foreign[directory] = self._foreign.get(directory, 0) + files

    def reports(self) -> list[FileReport]:
        """What was skipped."""
        for directory, files in self._foreign.items():
            count = counted(files, "file")
            told = count if files else "not counted"
            self.skip(f"{directory}/", f"dependencies, caches or build output: {told}")
        return sorted(self._skipped, key=lambda each: each.path)


class _Scanner(PathSifter):
    """Sifts the paths of a directory."""

    def __init__(self, root: Path, limits: Limits, now: int) -> None:
        super().__init__(limits)
        self._root, self._now = os.path.realpath(root), now
        # Many files share a directory; check only once whether it is below a link.
        self._inside = cache(self._is_inside)

    def all(self, paths: Iterable[bytes]) -> None:
        """Classify several paths."""
        for path in paths:
            self.one(path)

    def one(self, raw: bytes) -> None:
        """Classify one path."""
        path = self.path(raw)
        if path is None:
            return
        try:
            status = os.lstat(os.path.join(self._root, path))  # noqa: PTH118 (5,000 of them)
        except FileNotFoundError:
            return  # deleted, but the deletion is not committed
        except (OSError, ValueError) as error:
            self.skip(path, f"it cannot be looked at: {getattr(error, 'strerror', error)}")
            return
        self._judge(path, status)

    def _judge(self, path: str, status: os.stat_result) -> None:
        # What a directory occupies depends on the disk, and says nothing.
        size = 0 if stat.S_ISDIR(status.st_mode) else status.st_size
        reason = _kind_problem(status.st_mode) or self._problem(path, size)
        if reason:
            self.skip(path.rstrip("/"), reason, size)
            return
        fresh = abs(self._now - status.st_mtime_ns) < FRESH_NS
        mtime = 0 if fresh else changed(status)
        self.found.append(Found(path, status.st_size, mtime, signed(status.st_ino)))

    def _problem(self, path: str, size: int) -> str:
        if not self._inside(path.rpartition("/")[0]):
            return "it is below a symbolic link"
        return self.problem(path, size)

    def _is_inside(self, directory: str) -> bool:
        whole = os.path.join(self._root, directory) if directory else self._root  # noqa: PTH118
        return os.path.realpath(whole) == whole


def _kind_problem(mode: int) -> str:
    """Why a path is not a readable file, or ""."""
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISLNK(mode):
        return IS_LINK
    if stat.S_ISDIR(mode):
        return IS_REPOSITORY
    return "not a regular file"


def changed(status: os.stat_result) -> int:
    """A file's modification time in nanoseconds, but never 0, which means unreliable.

    Files in sdists may be dated to the very start of 1970.
    """
    return status.st_mtime_ns or 1


def signed(inode: int) -> int:
    """An inode number as a signed 64-bit integer, as databases store it."""
    return inode - (1 << 64) if inode >= 1 << 63 else inode


def _walked(root: Path, look: _Scanner) -> Iterator[bytes]:
    """The files of a directory that is not a checkout, without those that ``.gitignore`` names."""
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
