"""A file that an admin edits while the portal runs: read again whenever it is saved.

A change that has problems is told and set aside: what the last good file says stays in force.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from gateway.config.yaml_source import read_bytes, read_bytes_if_there
from gateway.errors import ConfigError, Problem

T = TypeVar("T")


def _log() -> Any:
    # Late: commands read the files too, and log nothing.
    from gateway.observability.logs import get_logger

    return get_logger(__name__)


def problems_from(error: Exception, file: str) -> tuple[Problem, ...]:
    """What is wrong with a file that could not be put in force, whatever has failed."""
    if isinstance(error, ConfigError):
        return error.problems
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    reason = f"cannot be put in force ({what}); undo the last change, and report this fault"
    return (Problem(file, 0, "", reason),)


class FollowedFile(Generic[T]):
    """What a file says, kept up to date with it.

    Args:
        path: the file; where there is none, it is as an empty one.
        parse: ``parse(raw, file)`` reads it; ``file`` is its name for messages.

    Attributes:
        problems: what is wrong with the file as it stands now; empty where it is in force.

    Raises:
        ConfigError: the file has problems, and there is nothing earlier to keep.
    """

    def __init__(self, path: Path, parse: Callable[[bytes, str], T]) -> None:
        self._path, self._parse = path, parse
        self._file = f"{path.parent.name}/{path.name}"
        self._raw = read_bytes_if_there(path, self._file)
        self.content = parse(self._raw or b"", self._file)
        self.problems: tuple[Problem, ...] = ()
        self._is_applied = True

    @property
    def text(self) -> str:
        """The file as it is in force; empty where there is none."""
        return (self._raw or b"").decode("utf-8", "replace")

    @property
    def file(self) -> str:
        """The file's name for messages."""
        return self._file

    def on_disk(self) -> bytes:
        """The file as it stands on disk now, in force or not; reads it, so call it in a thread.

        Raises:
            ConfigError: it cannot be read.
        """
        return read_bytes_if_there(self._path, self._file) or b""

    async def watch(self, on_change: Callable[[T], None], interval: float = 1.0) -> None:
        """Follow the file until cancelled.

        The small file is read again and again rather than watched: that also sees a replaced
        file, a changed link and a network mount, and needs nothing of the operating system.
        Whatever goes wrong with a file is a problem of that file; the next one is read as well.

        Args:
            on_change: called with what the file says each time a good one has replaced another;
                again at the next look where it fails.
            interval: seconds between two looks.
        """
        while True:
            await asyncio.sleep(interval)
            if await asyncio.to_thread(self._reload):
                self._is_applied = False
            if not self._is_applied:
                self._apply(on_change)

    def _apply(self, on_change: Callable[[T], None]) -> None:
        try:
            on_change(self.content)
        except Exception as error:
            self._refuse(error)
            return
        self._is_applied = True
        _log().info(f"{self._path.stem}_reloaded", file=self._file)

    def _reload(self) -> bool:
        """Read the file again; true where it brought something new into force."""
        try:
            read = read_bytes_if_there if self._raw is None else read_bytes
            raw = read(self._path, self._file)
            changed = raw is not None and raw != self._raw
            if changed:
                self.content = self._parse(raw or b"", self._file)
        except Exception as error:
            self._refuse(error)
            return False
        self._raw = raw
        if self._is_applied:
            self.problems = ()
        return changed

    def _refuse(self, error: Exception) -> None:
        problems = problems_from(error, self._file)
        if problems != self.problems:
            _log().error(
                f"{self._path.stem}_not_reloaded",
                file=self._file,
                problems=[str(problem) for problem in problems],
                kept="what the last good file says",
                exc_info=None if isinstance(error, ConfigError) else error,
            )
        self.problems = problems
