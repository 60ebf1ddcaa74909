"""What each layer is given to answer a query, and what it returns.

Terms, vector and the caller's keys are computed once for all layers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.requests import Mode
from plugins.knowledge.memory.model.validity import ANY_TIME, Validity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from plugins.knowledge.retrieval.foreign_questions import ForeignQuestion

    Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class WrittenBy:
    """Whose words an answer must be.

    Attributes:
        name: as the question has it; an entry that names this author itself counts.
        people: the ids of those whom the portal calls so.
    """

    name: str
    people: frozenset[str]

    def has(self, record: Record) -> bool:
        """Whether an entry is in these words."""
        by = record.writer.person if record.writer is not None else record.owner
        return by in self.people or record.metadata.author == self.name


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """The conditions of a query, beside that the caller may read the entry.

    Attributes:
        labels: groups of labels (``labels.py``): the entry has at least one of each group.
        after: it was created at this moment or later.
        before: it was created at this moment or earlier.
        owner: it is this person's.
        as_of: it held then.
        written: it is somebody's words.
        or_happened: or what it tells of happened, or was said, between these two.
        happened: what it tells of happened, or it was written, between these moments.
    """

    labels: tuple[frozenset[str], ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    owner: str | None = None
    as_of: datetime | None = None
    written: WrittenBy | None = None
    or_happened: bool = False
    happened: tuple[datetime, datetime] | None = None

    def is_of_its_time(self, record: Record) -> bool:
        """Whether an entry is of the time that is asked for."""
        if self.happened is None:
            return True
        begins, ends = self.happened
        return begins <= (record.validity.event_at or record.created) <= ends


@dataclass(frozen=True, slots=True)
class Question:
    """A query, as each layer gets it.

    Attributes:
        text: in words.
        mode: which signals count.
        keys: what the caller can read by (``rights/access.py``); with none, nothing is found.
        person: the caller, whose own working and session memory are asked; or None.
        name: what the portal calls the caller.
        limit: how many answers of a layer at most.
        terms: the numbers of the question's terms.
        vector: the question's, of length one; None where the mode or the portal has none.
        embedding_error: why there is none though the mode and the portal have one, or None.
        voices: the labels of the turns of those whom the question names.
        focus: the question's vector with less of these names; None where it has none.
        foreign: the question, where it is in another language than the model's.
        entry_filter: what an answer must be.
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
    embedding_error: Exception | None = None
    voices: frozenset[str] = frozenset()
    focus: Vector | None = None
    foreign: ForeignQuestion | None = None
    entry_filter: EntryFilter = EntryFilter()
    agent: str | None = None
    name: str | None = None

    @property
    def meaning(self) -> Vector | None:
        """What the vectors of entries are compared with: who is named counts by half."""
        return self.vector if self.focus is None else self.focus


class Link(NamedTuple):
    """What leads from an answer to an entry that is shown with it.

    Attributes:
        name: what both name.
        entry: the answer's id.
        alone: the score that the entry has without that, 0 to 1.
    """

    name: str
    entry: str
    alone: float


class Scored(Struct, frozen=True):
    """An entry that may answer; a question makes and changes hundreds of them, hence a ``Struct``.

    Attributes:
        id: the entry's.
        score: how well it answers, 0 to 1.
        changed: when it was last written.
        cosine: its similarity, where that was asked for and it has a vector.
        created: when it was first written, where that is another time.
        validity: when it holds, as far as it says so itself.
        challenged: whether a later entry ends, contests or seems to replace it, or is only newer,
            or it contests one itself.
        fit: how sure it is that it answers at all, 0 to 1, where that is not its score.
        number: its place in the order in which entries were written; 0 where there is none.
        follows: the number of the turn of a conversation before it, or None.
        taken_from: the number of the turn whose words it has, where it was found in one.
        link: what leads to it from another answer, where that is why it is one.
        asked: the id of the turn before it, where that only asks something.
        version: which of its versions was found; 0 where there is one alone.
        says_all: whether it has every word of the question.
        passage: which passage of it is that near; 0 for its beginning.
    """

    id: str
    score: float
    changed: datetime
    cosine: float | None = None
    created: datetime | None = None
    validity: Validity = ANY_TIME
    challenged: bool = False
    fit: float | None = None
    number: int = 0
    follows: int | None = None
    taken_from: int | None = None
    link: Link | None = None
    asked: str | None = None
    version: int = 0
    says_all: bool = False
    passage: int = 0

    def with_score(self, score: float, **more: Any) -> Scored:
        """The same entry with another score, and other values of what else is named."""
        return replace(self, score=score, **more)

    @property
    def alone(self) -> float:
        """How well it answers by itself, whatever leads to it."""
        return self.score if self.link is None else self.link.alone

    @property
    def written(self) -> datetime:
        """When it was first written."""
        return self.created or self.changed


@dataclass(frozen=True, slots=True)
class LayerAnswers:
    """What a layer found.

    Attributes:
        found: the best first.
        note: what was left out and why, or an empty text.
        error: what made it so, for the log.
    """

    found: Sequence[Scored] = ()
    note: str = ""
    error: Exception | None = None


class SearchLayer(Protocol):
    """One layer, or a part of one, that answers queries."""

    @property
    def layer(self) -> Layer:
        """Which one."""
        ...

    async def search(self, question: Question) -> LayerAnswers:
        """The best answers, at most ``question.limit``; nothing that no key of it may read."""
        ...


class EntrySource(Protocol):
    """A place from which entries are read by their ids."""

    async def read(self, ids: Collection[str], keys: frozenset[str]) -> dict[str, Record]:
        """Entries by their ids, without those that are gone or that none of the keys may read."""
        ...
