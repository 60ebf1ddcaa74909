"""How the last sync went, and what answers say while one makes the base findable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from plugins.knowledge.notes.frontmatter import Problem, summed
from plugins.knowledge.sync.manifest import FileRecord

HALF_DONE = (
    "The knowledge base is not indexed whole yet; the portal has begun to go on with that. Ask "
    "again in a minute for the rest."
)


@dataclass(slots=True)
class Status:
    """How the last sync went, for the health check.

    Attributes:
        ready: whether a sync has finished since the start, or has but documents to convert.
        done: documents written by the sync that runs, of ``total``.
        total: documents that it has to write.
        notes: how many notes the sources hold.
        unpublished: how many of them do not ask to be served.
        problems: what members should mend; what is told once, once.
        turns: when the next note is published, or is so no more, by what it says; or None.
        error: why the last sync failed, or an empty text.
        begun: whether an earlier process has left the index half done.
    """

    ready: bool = False
    done: int = 0
    total: int = 0
    notes: int = 0
    unpublished: int = 0
    problems: Sequence[Problem] = ()
    turns: datetime | None = None
    error: str = ""
    begun: bool = False

    def unfinished(self) -> str:
        """What an answer says while it comes from a part of the base; else an empty text."""
        if self.done < self.total:
            return (
                f"The knowledge base is being indexed: {self.done} of {self.total} documents so "
                "far. Ask again for the rest."
            )
        if self.begun and not self.ready:
            return HALF_DONE
        if self.notes or self.ready:
            return ""
        if self.error:
            return "The notes could not be read; the health of this portal says why to its admins."
        return "The notes are being read for the first time. Ask again in a minute."

    def update(self, files: Mapping[str, FileRecord], problems: Iterable[Problem]) -> None:
        """Take in what the sources hold, and what is wrong with it."""
        self.notes = len(files)
        self.unpublished = sum(record.is_unpublished for record in files.values())
        self.problems = summed(problems)
        self.turns = min((one.turns for one in files.values() if one.turns), default=None)
