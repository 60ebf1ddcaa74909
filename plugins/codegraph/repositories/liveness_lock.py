"""Whether a holder still lives: a lock on a file, which the system lets go with its process."""

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
    """The locks of this task, for programs that it starts: one that outlives us holds on too."""
    return _held.get()


class LivenessLock:
    """The holders that work in one data directory.

    Args:
        directory: where their locks lie; it is made.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @contextmanager
    def shown(self, repo: str, holder: str) -> Generator[None]:
        """Show that a holder lives for as long as the block lasts.

        Where no lock can be made (a full disk, a file system without them) nobody can tell that
        the holder died, and they wait until its time is up.
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
        """Whether a holder died here. A holder of another machine or container is never said to
        have: its lock is not in this directory, or its lock is held.
        """
        file = self._file(repo, holder)
        try:
            lock = os.open(file, os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # One of the same name that begins just now makes a file of its own.
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
                # Something that an earlier life of this holder started has it still.
                file.unlink(missing_ok=True)
        return None

    def _file(self, repo: str, holder: str) -> Path:
        return self._directory / f"{repo}-{hashlib.sha256(holder.encode()).hexdigest()[:16]}"
