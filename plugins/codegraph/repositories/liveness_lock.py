"""Detects whether a holder is alive by a file lock, which the system releases with its process."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_MAX_TRIES = 5
_held: ContextVar[tuple[int, ...]] = ContextVar("codegraph_held", default=())


def inherited() -> tuple[int, ...]:
    """The lock descriptors of this task, to be inherited by child processes: one that outlives us
    keeps the lock."""
    return _held.get()


class LivenessLock:
    """The liveness locks of holders that share one data directory.

    Args:
        directory: the directory of the locks; created if missing.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @contextmanager
    def shown(self, repo: str, holder: str) -> Generator[None]:
        """Hold a lock for the duration of the block, to show that the holder is alive.

        Where no lock can be made (a full disk, a file system without locks), the holder's death
        cannot be detected, and others wait until its lease expires.
        """
        file = self._file(repo, holder)
        lock = self._locked(file)
        if lock is None:
            yield
            return
        token = _held.set((*_held.get(), lock))
        try:
            yield
        finally:
            _held.reset(token)
            file.unlink(missing_ok=True)
            os.close(lock)

    def is_dead(self, repo: str, holder: str) -> bool:
        """Whether a holder is known to have died here. Never true for a holder on another machine
        or in another container: its lock is not in this directory, or is held."""
        file = self._file(repo, holder)
        try:
            lock = os.open(file, os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A new holder of the same name that starts right now creates its own file.
            file.unlink(missing_ok=True)
        except OSError:
            return False
        finally:
            os.close(lock)
        return True

    def _locked(self, file: Path) -> int | None:
        for _ in range(_MAX_TRIES):
            lock = None
            with contextlib.suppress(OSError):
                self._directory.mkdir(parents=True, exist_ok=True)
                lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if file.stat().st_ino == os.fstat(lock).st_ino:
                    return lock
            if lock is not None:
                os.close(lock)
            with contextlib.suppress(OSError):
                # A child process of this holder's previous run still has the lock.
                file.unlink(missing_ok=True)
        return None

    def _file(self, repo: str, holder: str) -> Path:
        return self._directory / f"{repo}-{hashlib.sha256(holder.encode()).hexdigest()[:16]}"
