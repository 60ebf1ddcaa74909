"""Remembers what a snapshot passes over."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.repositories.protocol import LeftOut

MAX_REPORTED_FILES = 100
"""A repository may hold any number of such files; an admin looks at a few."""


class LeavingOut:
    """The first files that were passed over."""

    def __init__(self) -> None:
        self._files: list[LeftOut] = []

    @property
    def files(self) -> Sequence[LeftOut]:
        """Their paths, and why."""
        return tuple(self._files)

    def report(self, path: str, reason: str) -> None:
        """Remember one more, if there is room."""
        if len(self._files) < MAX_REPORTED_FILES:
            shown = path.encode(errors="backslashreplace").decode()
            self._files.append(LeftOut(shown, reason))
