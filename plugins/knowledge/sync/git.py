"""What a local Git checkout knows: its commit, and when each file was last committed.

Git only ever reads here, and starts nothing that the repository names (hooks, a file system
monitor), because a checkout is other people's data.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

_SAFE = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_SECONDS = 120


class Checkout:
    """A directory that is, or lies in, a Git checkout. Its methods block; call them in a thread.

    Args:
        directory: the directory; paths are relative to it.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._dates: tuple[str, dict[str, datetime]] = ("", {})

    def commit(self) -> str:
        """The full id of the commit that is checked out; an empty text outside of Git."""
        return self._git("rev-parse", "--verify", "--quiet", "HEAD").strip()

    def dates(self, commit: str) -> dict[str, datetime]:
        """When each file was last committed, by its path; one pass over the history.

        Args:
            commit: the commit that is checked out; the last answer is kept for it.
        """
        if not commit:
            return {}
        if self._dates[0] != commit:
            log = self._git(
                "log",
                "--format=%x01%ct",
                "--name-only",
                "-z",
                "--no-renames",
                "--relative",
                "--",
                ".",
            )
            self._dates = (commit, _last_dates(log))
        return self._dates[1]

    def _git(self, *arguments: str) -> str:
        program = shutil.which("git")
        if program is None:
            return ""
        environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
        try:
            done = subprocess.run(  # noqa: S603  a fixed program, no shell
                [program, *_SAFE, "-C", str(self._directory), *arguments],
                capture_output=True,
                check=True,
                env=environment,
                timeout=_SECONDS,
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        return done.stdout.decode(errors="surrogateescape")


def _last_dates(log: str) -> dict[str, datetime]:
    """Read ``git log``, newest commit first: the first date of a path is its last."""
    dates: dict[str, datetime] = {}
    date = datetime.fromtimestamp(0, UTC)
    for part in log.split("\0"):
        if part.startswith("\x01"):
            date = datetime.fromtimestamp(int(part[1:]), UTC)
        elif path := part.removeprefix("\n"):
            dates.setdefault(path, date)
    return dates
