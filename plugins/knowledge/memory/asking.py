"""A question as every layer gets it: words, terms and vector made once, access decided before."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from plugins.knowledge.memory.entries import Layer
from plugins.knowledge.memory.ranking import Mode, Scored
from plugins.knowledge.memory.records import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What an entry must be, beside readable.

    Attributes:
        labels: groups of labels (``labels.py``): the entry has at least one of each group.
        after: it was created at this moment or later.
        before: it was created at this moment or earlier.
        owner: it is this person's.
    """

    labels: tuple[frozenset[str], ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        text: in words.
        mode: which signals count.
        keys: what the caller can read by (``access.py``); with none, nothing is found.
        person: the caller, whose own working and session memory are asked; or None.
        limit: how many answers of a layer at most.
        terms: the numbers of the question's terms.
        vector: the question's, of length one; None where the mode or the portal has none.
        unembedded: why there is none though the mode and the portal have one, or None.
        narrowing: what an answer must be.
        agent: the agent whose session and working memory are asked, or None for all of the
            caller's.
    """

    text: str
    mode: Mode
    keys: frozenset[str]
    person: str | None
    limit: int
    terms: Sequence[int] = ()
    vector: Vector | None = None
    unembedded: Exception | None = None
    narrowing: Narrowing = Narrowing()
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """What a layer found.

    Attributes:
        found: the best first.
        note: what was left out and why, or an empty text.
        error: what made it so, for the log.
    """

    found: Sequence[Scored] = ()
    note: str = ""
    error: Exception | None = None


class AskedLayer(Protocol):
    """One layer, or a part of one, as a query asks it."""

    @property
    def layer(self) -> Layer:
        """Which one."""
        ...

    async def search(self, question: Question) -> Answers:
        """The best answers, at most ``question.limit``; nothing that no key of it may read."""
        ...


class Shelf(Protocol):
    """Where entries can be read by their ids."""

    async def read(self, ids: Collection[str], keys: frozenset[str]) -> dict[str, Record]:
        """Entries by their ids, without those that are gone or that none of the keys may read."""
        ...
