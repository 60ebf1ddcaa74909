"""How entries are shown to agents: short by default, and each with the way to the whole."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field
from pydantic_core import to_json

from gateway.contract import BriefResult
from gateway.toolkit.words import terms
from plugins.knowledge.memory.algorithms.relevance import FLOOR, MAX_NEAREST
from plugins.knowledge.memory.model.author import BY_FIELD, Author
from plugins.knowledge.memory.model.entry import FROM, KnowledgeEntry, Layer
from plugins.knowledge.memory.model.excerpts import beginning
from plugins.knowledge.memory.model.policy import AccessPolicy
from plugins.knowledge.memory.model.record import Record, is_generated_id
from plugins.knowledge.memory.model.responses import (
    CONTEXT_FIELD,
    QueryResponse,
    QueryResult,
    Standing,
)
from plugins.knowledge.memory.model.validity import ANY_TIME
from plugins.knowledge.memory.query.highlights import best_window

MAX_EXCERPT = 800
"""Characters of an entry in a list of answers."""
MAX_GLANCE = 240
"""Characters of an entry in a text, and of what is only near."""
MAX_ANSWER_BYTES = 10_000
"""Bytes of the answers together, as JSON; further ones come with the next page."""
STANDING_FIELD = "Why it may not hold: superseded by another, ended, long unverified."
"""What an answer says of its field with an entry's standing in words."""
EventAt = Annotated[
    datetime | None, Field(description="When what it tells of happened, or will happen.")
]
SaidAt = Annotated[
    datetime | None, Field(description="When it was said, where it comes from a conversation.")
]
ValidFrom = Annotated[datetime | None, Field(description="From when on it holds.")]
ValidUntil = Annotated[datetime | None, Field(description="When it ceases to hold.")]


class Remembered(BaseModel):
    """An entry as a tool shows it."""

    id: str
    content: str = Field(description="What it says, or the part of it that answers.")
    length: int | None = Field(
        None, description="Characters of the whole, where this is a part: get_memory reads it."
    )
    title: str | None = None
    tags: list[str] = Field(default_factory=list)
    version: int
    changed: datetime
    said_at: SaidAt = None
    event_at: EventAt = None
    valid_from: ValidFrom = None
    valid_until: ValidUntil = None
    policy: AccessPolicy = Field(description="Who may read it.")
    layer: Layer | None = Field(None, description="Where it is.")
    by: str | None = Field(None, description=BY_FIELD)
    score: float | None = Field(None, description="How well it answers, 0 to 1.")
    standing: str | None = Field(None, description=STANDING_FIELD)
    shares: str | None = Field(
        None, description="The name it shares with another answer, where that answer led to it."
    )
    context: str | None = Field(None, description=CONTEXT_FIELD)


class Near(BaseModel):
    """An entry that is near, and does not fit."""

    id: str
    content: str = Field(description="Its beginning, or the part that is near.")
    by: str | None = Field(None, description="Whose words these are.")
    said_at: SaidAt = None
    event_at: EventAt = None
    valid_from: ValidFrom = None
    valid_until: ValidUntil = None
    score: float


class Memories(BriefResult):
    """What memory holds on a question, the best answer first."""

    results: list[Remembered]
    total: int = Field(
        description="How many fit, of those that were compared: with next_offset more may."
    )
    next_offset: int | None = Field(None, description="Give it as offset for those that follow.")
    nearest: list[Near] = Field(
        default_factory=list, description="What is nearest and does not fit: likely beside it."
    )
    layers: list[str] = Field(description="The layers that were asked.")
    note: str | None = Field(None, description="What is missing from the answer, and why.")

    def brief(self) -> str:
        """The best answer, and the others in a line or two; the structured content has more."""
        lines = [] if self.note is None else [self.note]
        for place, each in enumerate(self.results):
            name = f"{each.title}: " if each.title else ""
            known = [f"{each.id}, {each.score}, by {each.by}", *_times(each, each.standing or "")]
            known += [each.standing] if each.standing else []
            known += [f"shares {each.shares}"] if each.shares else []
            known += [f"context: {each.context}"] if each.context else []
            said = beginning(each.content, MAX_GLANCE) if place else each.content
            lines.append(f"- {name}{said} [{'; '.join(known)}]")
        for near in self.nearest:
            known = [f"{near.id}, {near.score}, by {near.by}", *_times(near, "")]
            lines.append(f"- (near) {beginning(near.content, MAX_GLANCE)} [{'; '.join(known)}]")
        if self.next_offset is not None:
            lines.append(f"More with offset={self.next_offset}.")
        return "\n".join(lines) or "Nothing."


def memories(
    answer: QueryResponse, question: str, offset: int, archived: int = 0, told: str = ""
) -> Memories:
    """An answer within the budget.

    Args:
        answer: the answer to the question.
        question: as it was asked.
        offset: how many results were skipped.
        archived: how many fit in the archive, where that was looked at.
        told: what to say of the question, and of notes that are not indexed yet.
    """
    asked = frozenset(terms(question))
    shown: list[Remembered] = []
    room = MAX_ANSWER_BYTES
    for each in answer.results:
        one = _remembered(each, asked)
        room -= len(to_json(one))
        if shown and room < 0:
            break
        shown.append(one)
    total, more = answer.metadata.total_results, answer.metadata.more_may_fit
    after = offset + len(shown)
    near = [] if offset else (answer.nearest or [])[: max(0, MAX_NEAREST - len(shown))]
    return Memories(
        results=shown,
        total=total,
        next_offset=after if shown and (after < total or more) else None,
        nearest=[_near(each, asked) for each in near],
        layers=answer.metadata.layers_queried,
        note=_note(answer, archived, told, fits=bool(shown), offset=offset),
    )


def marked_excerpt(content: str, asked: frozenset[str], longest: int, passage: int = 0) -> str:
    """The part of a content that answers, with what is left out marked.

    Args:
        content: all of it.
        asked: the terms of the question.
        longest: characters of the part, at most.
        passage: the passage that is near to the question.
    """
    start, end = best_window(content, asked, longest, passage)
    before, after = "…" if start else "", "…" if end < len(content) else ""
    return f"{before}{content[start:end]}{after}"


def _remembered(found: QueryResult, asked: frozenset[str]) -> Remembered:
    entry: KnowledgeEntry = found.entry
    whole, times = len(entry.content), entry.validity or ANY_TIME
    said_at, event_at = said_and_event(entry)
    return Remembered(
        id=entry.id,
        content=marked_excerpt(entry.content, asked, MAX_EXCERPT, found.passage),
        length=whole if whole > MAX_EXCERPT else None,
        title=entry.metadata.title and beginning(entry.metadata.title, MAX_GLANCE),
        tags=[beginning(each, MAX_GLANCE) for each in entry.metadata.tags[:20]],
        version=entry.version,
        changed=entry.updated_at or entry.created_at,
        said_at=said_at,
        event_at=event_at,
        valid_from=times.valid_from,
        valid_until=times.valid_until,
        policy=entry.access_policy,
        layer=found.layer,
        by=found.author and found.author.shown,
        score=found.score,
        standing=found.standing and found.standing.text,
        shares=found.linked_by and f"{found.linked_by.name} with {found.linked_by.entry_id}",
        context=found.context,
    )


def _near(found: QueryResult, asked: frozenset[str]) -> Near:
    times = found.entry.validity or ANY_TIME
    said_at, event_at = said_and_event(found.entry)
    return Near(
        id=found.entry.id,
        content=marked_excerpt(found.entry.content, asked, MAX_GLANCE, found.passage),
        by=found.author and found.author.shown,
        said_at=said_at,
        event_at=event_at,
        valid_from=times.valid_from,
        valid_until=times.valid_until,
        score=found.score,
    )


def said_and_event(entry: KnowledgeEntry | Record) -> tuple[datetime | None, datetime | None]:
    """When an entry was said, and when what it tells of happens; of each one only one is known.

    Of what comes from a conversation the time is that of the words, and not of what they tell of.

    Args:
        entry: any entry.
    """
    author, turn = entry.metadata.author, entry.metadata.custom.get(FROM)
    at = (entry.validity or ANY_TIME).event_at
    is_turn = author is not None and entry.content.startswith(f"{author}: ")
    is_found = isinstance(turn, str) and is_generated_id(turn)
    return (at, None) if is_turn or is_found else (None, at)


def _times(one: Remembered | Near, standing: str) -> list[str]:
    """When it was said, happens and holds, in words, as far as its standing does not say it."""
    told = (("said", one.said_at), ("event", one.event_at))
    said = [f"{word} {moment:%Y-%m-%d}" for word, moment in told if moment is not None]
    for word, moment in (("from", one.valid_from), ("until", one.valid_until)):
        if moment is not None and f"{word} {moment:%Y-%m-%d}" not in standing:
            said.append(f"holds {word} {moment:%Y-%m-%d}")
    return said


def _note(
    answer: QueryResponse, archived: int, told: str, *, fits: bool, offset: int
) -> str | None:
    said = answer.metadata
    notes = [f"{layer}: {why}" for layer, why in said.layers_failed.items()]
    if not fits and not offset:
        below = f" What is nearest has less than {FLOOR}." if answer.nearest else ""
        notes.insert(0, f"Nothing fits.{below}")
    elif not fits:
        notes.insert(0, f"Nothing more: {said.total_results} fit in all, and offset skips these.")
    if archived:
        notes.append(f'{archived} in the archive fit: ask with layers=["archival"].')
    if said.layers_by_words:
        named = ", ".join(said.layers_by_words)
        notes.append(f"Searched by their words alone, so ask in those: {named}.")
    return " ".join(filter(None, (*notes, told))) or None


class Listed(BaseModel):
    """An entry in a list."""

    id: str
    title: str | None = None
    content: str = Field(description="Its beginning.")
    length: int = Field(description="Characters of the whole.")
    layer: Layer
    policy: AccessPolicy = Field(description="Who may read it.")
    tags: list[str] = Field(default_factory=list)
    by: str = Field(description=BY_FIELD)
    mine: bool
    version: int
    created: datetime
    changed: datetime
    said_at: SaidAt = None
    event_at: EventAt = None
    valid_from: ValidFrom = None
    valid_until: ValidUntil = None
    standing: str | None = Field(None, description=STANDING_FIELD)


def list_item(
    record: Record, author: Author, person: str | None, standing: Standing | None = None
) -> Listed:
    """An entry in a list.

    Args:
        record: the entry.
        author: who wrote what it says now.
        person: who looks.
        standing: what to know of whether it holds; None where it does.
    """
    said, times = record.metadata, record.validity
    said_at, event_at = said_and_event(record)
    return Listed(
        id=record.id,
        title=said.title and beginning(said.title, MAX_GLANCE),
        content=beginning(record.content, MAX_GLANCE),
        length=len(record.content),
        layer=record.layer,
        policy=record.access.policy,
        tags=[beginning(each, MAX_GLANCE) for each in said.tags[:20]],
        by=author.shown,
        mine=record.owner == person,
        version=record.version,
        created=record.created,
        changed=record.changed,
        said_at=said_at,
        event_at=event_at,
        valid_from=times.valid_from,
        valid_until=times.valid_until,
        standing=standing and standing.text,
    )
