"""A file that an admin edits while the portal runs: read again whenever it is saved.

A change that has problems is told and set aside: what the last good file says stays in force.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from gateway.config.yaml_source import read_bytes
from gateway.errors import ConfigError, Problem

T = TypeVar("T")


def _log() -> Any:
    # Late: commands read the files too, and log nothing.
    from gateway.observability.logs import get_logger

    return get_logger(__name__)


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
        self._raw = read_bytes(path, self._file) if path.exists() else None
        self.content = parse(self._raw or b"", self._file)
        self.problems: tuple[Problem, ...] = ()

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
        return read_bytes(self._path, self._file) if self._path.exists() else b""

    async def watch(self, on_change: Callable[[T], None], interval: float = 1.0) -> None:
        """Follow the file until cancelled.

        The small file is read again and again rather than watched: that also sees a replaced
        file, a changed link and a network mount, and needs nothing of the operating system.

        Args:
            on_change: called with what the file says each time a good one has replaced another.
            interval: seconds between two looks.
        """
        while True:
            await asyncio.sleep(interval)
            if await asyncio.to_thread(self._reload):
                _log().info(f"{self._path.stem}_reloaded", file=self._file)
                on_change(self.content)

    def _reload(self) -> bool:
        """Read the file again; true where it brought something new into force."""
        if self._raw is None and not self._path.exists():
            return False
        try:
            raw = read_bytes(self._path, self._file)
            changed = raw != self._raw
            if changed:
                self.content = self._parse(raw, self._file)
        except ConfigError as error:
            self._refuse(error.problems)
            return False
        self.problems, self._raw = (), raw
        return changed

    def _refuse(self, problems: tuple[Problem, ...]) -> None:
        if problems != self.problems:
            _log().error(
                f"{self._path.stem}_not_reloaded",
                file=self._file,
                problems=[str(problem) for problem in problems],
                kept="what the last good file says",
            )
        self.problems = problems
