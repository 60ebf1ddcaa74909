"""The progress of a sync, for admins over REST and for a command's progress bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

OnProgress = Callable[[str, int, int], None]
"""``tell(what is done, done, total)``."""


def _ignore(what: str, done: int, total: int) -> None:
    return


@dataclass(slots=True)
class Progress:
    """What is being done just now.

    Attributes:
        doing: in words; an empty text where nothing is.
        done: how much of it is done, in notes or documents.
        total: how much there is to do; 0 where that is not known.
        tell: told of each change.
    """

    doing: str = ""
    done: int = 0
    total: int = 0
    tell: OnProgress = field(default=_ignore, repr=False)

    @property
    def is_shown(self) -> bool:
        """Whether somebody is shown it as it changes."""
        return self.tell is not _ignore

    def at(self, doing: str, done: int = 0, total: int = 0) -> None:
        """Say what is being done."""
        self.doing, self.done, self.total = doing, done, total
        self.tell(doing, done, total)
