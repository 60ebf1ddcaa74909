"""Progress reports of a running index."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""``progress(done, total, message)``: called on the event loop; must return at once."""


def silent(done: int, total: int, message: str) -> None:
    """Ignore the progress."""


class Steps:
    """Counts files and reports the progress.

    Args:
        progress: receives the reports.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._done, self._total, self._what = 0, 0, ""

    def begin(self, what: str, files: int) -> None:
        """Begin a step.

        Args:
            what: its name, such as ``reading``.
            files: its total number of files.
        """
        self._what, self._done, self._total = what, 0, files
        self._tell()

    def done(self, files: int = 1) -> None:
        """Count more files as done."""
        self._done += files
        self._tell()

    def _tell(self) -> None:
        if self._total:
            message = f"{self._what} {self._done:,} of {self._total:,} files"
            self._progress(self._done, self._total, message)
