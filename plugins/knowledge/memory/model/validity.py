"""When an entry holds, apart from when it was written; and how two entries go together."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, model_validator

from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.fields import LastMoment, Part, UtcMoment
from plugins.knowledge.notes.fields import NO_BEGINNING

CLOCK_SKEW = timedelta(minutes=5)
"""How far a client's clock may be ahead of the portal's."""
MAX_RELATIONS = 20
"""Entries that one write can name: nothing supersedes everything."""


class Validity(Part):
    """When what an entry says happened, and from when to when it holds."""

    event_at: UtcMoment | None = Field(
        None, description="When what it tells of happens, where that is not when it was written."
    )
    valid_from: UtcMoment | None = Field(None, description="From when on it holds.")
    valid_until: LastMoment | None = Field(
        None, description="When it ceases to hold; a day counts whole."
    )

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> Self:
        begins, ends = self.valid_from or self.event_at, self.valid_until
        if begins is not None and ends is not None and ends <= begins:
            field = "event_at" if self.valid_from is None else "valid_from"
            raise ValueError(f"valid_until has to be later than {field}")
        return self

    def starts(self, written: datetime) -> datetime:
        """From when on an entry holds that was written at a time.

        Of an event that is to come it holds from then on, and not from when that happens.
        """
        if self.valid_from is not None:
            return self.valid_from
        begins, ends = min(self.event_at or written, written), self.valid_until
        return begins if ends is None or ends > begins else NO_BEGINNING

    def repeats(self, kept: Validity, now: datetime, *, is_event: bool) -> bool:
        """Whether what is said again speaks of the same time as when it was kept.

        Times that are given have to be those that were; an end may be new. What gives none speaks
        of now.

        Args:
            kept: when that holds which was said before.
            now: the time.
            is_event: whether it is something that happens again and again; a fact that is said
                again is the same fact, whenever that was.
        """
        if is_event and self.event_at not in (None, kept.event_at):
            return False
        coming = kept.valid_from is not None and kept.valid_from > now
        if self.valid_from != kept.valid_from and (self.valid_from is not None or coming):
            return False
        if self.valid_until is None:
            return kept.valid_until is None or kept.valid_until > now
        begins = kept.valid_from or kept.event_at
        if begins is not None and self.valid_until <= begins:
            return False
        return kept.valid_until in (None, self.valid_until)

    def holds_at(self, moment: datetime, written: datetime) -> bool:
        """Whether it holds at a moment, as far as it says so itself."""
        ended = self.valid_until is not None and self.valid_until < moment
        return self.starts(written) <= moment and not ended


ANY_TIME = Validity()
"""What says nothing of when it holds."""


class Verification(Part):
    """That somebody looked whether an entry is still right."""

    at: datetime
    by: str = Field(description="The id of the person who did.")
    against: str | None = Field(None, description="What they compared it with.")
    version: str | None = Field(
        None, description="The commit that this had then, where it is a note of the knowledge base."
    )
    digest: str | None = Field(
        None, exclude=True, description="What it said then, likewise; kept, and told to nobody."
    )

    def kept(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        return {**self.model_dump(mode="json"), "digest": self.digest}


class Relation(StrEnum):
    """How an entry goes together with an earlier one."""

    SUPERSEDES = "supersedes"
    CORRECTS = "corrects"
    CONTESTS = "contests"
    BOTH_HOLD = "both_hold"
    APART = "apart"
    SEEMS_TO_REPLACE = "seems_to_replace"
    IS_NEWER = "is_newer"

    @property
    def ends_the_other(self) -> bool:
        """Whether the other one holds no more."""
        return self in (Relation.SUPERSEDES, Relation.CORRECTS)

    @property
    def marks_the_other(self) -> bool:
        """Whether answers say of the other one that it is not sure to hold."""
        return self in _MARKS

    @property
    def is_mutual(self) -> bool:
        """Whether it says as much of the later one as of the other: neither is at odds with it."""
        return self in (Relation.BOTH_HOLD, Relation.APART)

    @property
    def is_found(self) -> bool:
        """Whether the portal finds it by itself, and nobody has decided it."""
        return self in (Relation.SEEMS_TO_REPLACE, Relation.IS_NEWER)


_MARKS = frozenset(
    {Relation.SUPERSEDES, Relation.CORRECTS, Relation.CONTESTS, Relation.SEEMS_TO_REPLACE}
)
DECISIONS = tuple(each for each in Relation if not each.is_found)
"""What a writer can decide."""


def check_past(moment: datetime | None, now: datetime, what: str) -> None:
    """Refuse a moment of the past that lies in the future.

    Raises:
        MemoryFailed: it does.
    """
    if moment is not None and moment > now + CLOCK_SKEW:
        raise MemoryFailed(
            ErrorCode.INVALID_REQUEST,
            f"{what} lies in the future ({moment:%Y-%m-%d %H:%M} UTC; it is {now:%Y-%m-%d %H:%M}). "
            "Leave it out, or look at the clock of who sends it.",
        )
