"""Directories that are followed: work is done again whenever a file in them changes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

DEBOUNCE_MS = 200
"""How long changes are gathered, so that one save of several files is one round."""
STEP_MS = 50
RETRY_SECONDS = 5
"""How long until work that failed is tried again."""

_GIT_TELLS = ("HEAD", "packed-refs")


async def follow(
    directories: Sequence[Path], work: Callable[[], Awaitable[bool]], *, rescan: int = 60
) -> None:
    """Do the work now, and again after every change, until cancelled.

    Each time the directories are watched anew *before* the work, so that no change falls between
    the two, and a directory that was away (a mount, a fresh clone) is found when it is back.

    Args:
        directories: the directories to watch, with all that is in them.
        work: brings everything up to date; false where it has to be tried again.
        rescan: seconds at most between two rounds, for file systems that report no changes.
    """
    stop = threading.Event()
    try:
        while True:
            watch = await asyncio.to_thread(_open, directories)
            done = await work()
            seconds = rescan if done and watch else RETRY_SECONDS
            await asyncio.to_thread(_wait, watch, seconds, stop)
    finally:
        stop.set()


def _open(directories: Sequence[Path]) -> RustNotify | None:
    from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

    try:
        return RustNotify([str(one) for one in directories], False, False, 300, True, True)
    except (OSError, WatchfilesRustInternalError):
        return None  # it is not there, or the system's watches are used up


def _wait(watch: RustNotify | None, seconds: int, stop: threading.Event) -> None:
    """Return when a file has changed, the time is up, or it is time to stop."""
    from watchfiles._rust_notify import WatchfilesRustInternalError

    if watch is None:
        stop.wait(seconds)
        return
    try:
        while True:
            changes = watch.watch(DEBOUNCE_MS, STEP_MS, seconds * 1000, stop)
            if not isinstance(changes, set) or any(_matters(path) for _, path in changes):
                return
    except WatchfilesRustInternalError:  # the system gave up watching; the next round begins anew
        stop.wait(RETRY_SECONDS)
    finally:
        watch.close()


def _matters(path: str) -> bool:
    """Whether a changed file can matter; of Git's own files few can."""
    parts = Path(path).parts
    if ".git" in parts:
        return parts[-1] in _GIT_TELLS
    return not any(part.startswith(".") for part in parts[-1:])
