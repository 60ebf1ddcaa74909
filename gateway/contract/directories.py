"""Directories of plugins: those that are followed, and those that can be built again."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

DEBOUNCE_MS = 200
"""How long changes are gathered, so that one save of several files is one round."""
STEP_MS = 50
RETRY_SECONDS = 5
"""How long until work that failed is tried again."""

CACHE_TAG = "CACHEDIR.TAG"
_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55\n"

_GIT_TELLS = ("HEAD", "packed-refs")


Work = Callable[[], Awaitable[bool]]
WorkOn = Callable[[frozenset[Path]], Awaitable[bool]]
"""``await work(directories)``: brings those up to date; false where it has to be tried again."""


def rebuildable(directory: Path) -> Path:
    """Make a directory whose contents can be built again, and mark it so: backups leave it out.

    The mark is the one that other programs know too (Cache Directory Tagging Specification).

    Returns:
        The directory.
    """
    directory.mkdir(parents=True, exist_ok=True)
    tag = directory / CACHE_TAG
    if not tag.exists():
        tag.write_text(_SIGNATURE)
    return directory


async def follow(directories: Sequence[Path], work: Work, *, rescan: int = 60) -> None:
    """Do the work now, and again after every change, until cancelled; see :func:`follow_each`."""
    await follow_each(directories, lambda _: work(), rescan=rescan)


async def follow_each(directories: Sequence[Path], work: WorkOn, *, rescan: int = 60) -> None:
    """Do the work for all directories now, and then for those that change, until cancelled.

    The directories are watched *before* the work, and on while it is done, so that no change falls
    between the two. Now and then they are watched anew, so that a directory that was away (a
    mount, a fresh clone) is found when it is back; the work is then done for all of them.

    Args:
        directories: the directories to watch, with all that is in them.
        work: brings some of them up to date; false where all of it has to be tried again.
        rescan: seconds at most between two rounds for all of them, for file systems that report
            no changes.
    """
    stop = threading.Event()
    every = frozenset(directories)
    try:
        while True:
            watch = await asyncio.to_thread(_open, directories)
            await _followed(watch, every, work, rescan, stop)
            if watch is not None:  # one that is cancelled is still in use, and ends with its thread
                watch.close()
    finally:
        stop.set()


async def _followed(
    watch: RustNotify | None,
    every: frozenset[Path],
    work: WorkOn,
    rescan: int,
    stop: threading.Event,
) -> None:
    """Work for as long as one watch is good: until something fails, or it is time for all."""
    end = time.monotonic() + rescan
    concerned = every
    while concerned:
        if not await work(concerned):
            end = 0.0
        left = end - time.monotonic()
        seconds = max(1, round(left)) if end and watch else RETRY_SECONDS
        paths = await asyncio.to_thread(_wait, watch, seconds, stop)
        if not end or not paths or time.monotonic() >= end:
            return
        concerned = _concerned(every, paths)


def _concerned(every: frozenset[Path], paths: Iterable[str]) -> frozenset[Path]:
    """The directories that changed paths lie in; all of them where one lies in none."""
    found: set[Path] = set()
    for path in paths:
        within = {each for each in every if Path(path).is_relative_to(each)}
        if not within:
            return every
        found |= within
    return frozenset(found)


def _open(directories: Sequence[Path]) -> RustNotify | None:
    from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

    try:
        return RustNotify([str(one) for one in directories], False, False, 300, True, True)
    except (OSError, WatchfilesRustInternalError):
        return None  # it is not there, or the system's watches are used up


def _wait(watch: RustNotify | None, seconds: int, stop: threading.Event) -> list[str]:
    """The files that matter and have changed; none once the time is up, or it is time to stop."""
    from watchfiles._rust_notify import WatchfilesRustInternalError

    if watch is None:
        stop.wait(seconds)
        return []
    try:
        while True:
            changes = watch.watch(DEBOUNCE_MS, STEP_MS, seconds * 1000, stop)
            if not isinstance(changes, set):
                return []
            if paths := [path for _, path in changes if _matters(path)]:
                return paths
    except WatchfilesRustInternalError:  # the system gave up watching; the next round begins anew
        stop.wait(RETRY_SECONDS)
        return []


def _matters(path: str) -> bool:
    """Whether a changed file can matter; of Git's own files few can."""
    parts = Path(path).parts
    if ".git" in parts:
        return parts[-1] in _GIT_TELLS
    return not any(part.startswith(".") for part in parts[-1:])
