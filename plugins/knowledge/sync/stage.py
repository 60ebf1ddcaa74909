"""How far a sync is, for whoever looks: an admin over REST, or a command's bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Tell = Callable[[str, int, int], None]
"""``tell(what is done, done, total)``."""


def _nobody(what: str, done: int, total: int) -> None:
    return


@dataclass(slots=True)
class Stage:
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
    tell: Tell = field(default=_nobody, repr=False)

    @property
    def is_shown(self) -> bool:
        """Whether somebody is shown it as it changes."""
        return self.tell is not _nobody

    def at(self, doing: str, done: int = 0, total: int = 0) -> None:
        """Say what is being done."""
        self.doing, self.done, self.total = doing, done, total
        self.tell(doing, done, total)
