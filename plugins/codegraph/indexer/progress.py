"""How far an index is, told as it goes on."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""``progress(done, total, message)``: called on the event loop; it returns at once."""


def silent(done: int, total: int, message: str) -> None:
    """Tell nobody."""


class Steps:
    """Counts what is done.

    Args:
        progress: who is told.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._done, self._total, self._what = 0, 0, ""

    def begin(self, what: str, files: int) -> None:
        """A new part of the work begins.

        Args:
            what: what is done, such as ``reading``.
            files: with how many files.
        """
        self._what, self._done, self._total = what, 0, files
        self._tell()

    def done(self, files: int = 1) -> None:
        """So many more files are done."""
        self._done += files
        self._tell()

    def _tell(self) -> None:
        if self._total:
            message = f"{self._what} {self._done:,} of {self._total:,} files"
            self._progress(self._done, self._total, message)
