"""Requests as those see them who may decide them: with all that they would do.

What they say of entries that are there already is read as somebody looks, with their own rights:
what is forgotten, or not theirs to read any more, is not in the answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from gateway.contract import Caller
from plugins.knowledge.memory.model.author import YOU
from plugins.knowledge.memory.model.excerpts import beginning
from plugins.knowledge.memory.model.policy import ANYONE_KEY, MEMBERS_KEY, group_key, person_key
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.requests import RelationDraft
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.store.approvals import Approval

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

MAX_EXCERPT = 800
"""Characters of an entry in a list of several requests."""
MAX_GLANCE = 240
"""Characters of what it ends there."""
MAX_READERS = 20
"""Readers that are named there."""
_EVERYBODY = {ANYONE_KEY: "everyone who is signed in", MEMBERS_KEY: "all members"}
_SHOW_THE_ENTRY = frozenset({"delete", "erase", "relate"})
"""What is done to an entry as it stands: it is shown as it is now."""


class OtherEntry(BaseModel):
    """An earlier entry that a request is about as well."""

    id: str
    content: str


class WaitingWrite(BaseModel):
    """A request, as those see it who may decide it, and who made it."""

    id: str
    operation: str = Field(
        description="create, update, delete, erase (for good), verify or relate."
    )
    entry: str = Field(description="The id of the entry.")
    content: str | None = Field(
        None, description="What the entry says, or is to say; in a list of several its beginning."
    )
    length: int | None = Field(None, description="Characters of the whole, where this is a part.")
    metadata: dict[str, Any] | None = Field(None, description="What is to be said about it.")
    ends: list[OtherEntry] = Field(
        default_factory=list, description="Earlier entries that hold no more once this is done."
    )
    beside: list[OtherEntry] = Field(
        default_factory=list,
        description="Earlier entries that it ends no more once this is done, nor they it.",
    )
    readers: list[str] = Field(
        default_factory=list,
        description="Who would read it. Over REST these are keys: tier:public is everyone who is "
        "signed in, tier:members all members.",
    )
    reason: str | None = None
    requested_by: str
    requested_at: datetime
    state: str = Field(
        description="pending, approved, rejected, or failed: it could not be done any more."
    )
    decided_by: str | None = None
    decided_at: datetime | None = None
    note: str | None = Field(None, description="What who decided said, or why it failed.")


def brief(one: WaitingWrite) -> WaitingWrite:
    """A request as one of several: the beginnings of what it says."""
    said, title = one.content or "", (one.metadata or {}).get("title")
    return one.model_copy(
        update={
            "content": one.content and beginning(said, MAX_EXCERPT),
            "length": len(said) if len(said) > MAX_EXCERPT else None,
            "metadata": {"title": beginning(title, MAX_GLANCE)} if title else None,
            "ends": [_glance(each) for each in one.ends],
            "beside": [_glance(each) for each in one.beside],
            "readers": one.readers[:MAX_READERS],
            "reason": one.reason and beginning(one.reason, MAX_EXCERPT),
        }
    )


def _glance(other: OtherEntry) -> OtherEntry:
    return OtherEntry(id=other.id, content=beginning(other.content, MAX_GLANCE))


async def with_names(
    memory: Memory, some: Sequence[WaitingWrite], caller: Caller
) -> list[WaitingWrite]:
    """The same requests, with people and groups by what the portal calls them.

    Args:
        memory: the memory.
        some: the requests.
        caller: who looks. A reader whom they may not find keeps the id.
    """
    own, you = person_key(""), caller.person or ""
    people = {id for each in some for id in (each.requested_by, each.decided_by or you)}
    readers = {key for each in some for key in each.readers if key.startswith(own)}
    names = dict(await memory.governed.recipients.names([k[len(own) :] for k in readers], caller))
    names |= await memory.authors.names(people)
    names[you] = YOU
    return [
        each.model_copy(
            update={
                "requested_by": names.get(each.requested_by, each.requested_by),
                "decided_by": each.decided_by and names.get(each.decided_by, each.decided_by),
                "readers": [_reader_in_words(key, names) for key in each.readers],
            }
        )
        for each in some
    ]


def _reader_in_words(key: str, names: Mapping[str, str]) -> str:
    if key in _EVERYBODY:
        return _EVERYBODY[key]
    if key.startswith(own := person_key("")):
        return names.get(key.removeprefix(own), key.removeprefix(own))
    return key.removeprefix(group_key(""))


async def waiting_writes(
    memory: Memory, some: Sequence[Approval], caller: Caller
) -> list[WaitingWrite]:
    """Requests, for somebody who may see them.

    Args:
        memory: the memory.
        some: the requests.
        caller: who looks.
    """
    held = caller_keys(caller)
    named = {id for each in some for id in _named(each)}
    known = await memory.entries.reads.read(named, held)
    return [_shown(each, known, await _ended(memory, each, held)) for each in some]


def _named(one: Approval) -> Iterable[str]:
    """The ids of the entries of which a request tells what they say now."""
    if one.payload is not None and one.operation in _SHOW_THE_ENTRY:
        yield one.entry
    for each in _related(one):
        yield each.target


def _related(one: Approval) -> Sequence[RelationDraft]:
    """How a request would have its entry go together with earlier ones."""
    if one.payload is None or one.operation not in {"create", "relate"}:
        return ()
    return one.payload.relations()


async def _ended(memory: Memory, one: Approval, held: frozenset[str]) -> list[Record]:
    """What an entry ends already, where a request lets others read that."""
    if one.payload is None or not (one.payload.opens or one.operation == "verify"):
        return []
    ended = await memory.entries.relations.store.ended_by(one.entry)
    return [each for each in ended if not held.isdisjoint(each.readers)]


def _shown(one: Approval, known: Mapping[str, Record], ended: Collection[Record]) -> WaitingWrite:
    payload = one.payload
    entry = {} if payload is None else payload.request.get("entry", {})
    content = entry.get("content")
    if one.operation in _SHOW_THE_ENTRY:
        content = known[one.entry].content if one.entry in known else None
    there = [each for each in _related(one) if each.target in known]
    ends = [known[each.target] for each in there if each.kind.ends_the_other]
    beside = [known[each.target] for each in there if not each.kind.ends_the_other]
    return WaitingWrite(
        id=one.id,
        operation=one.operation,
        entry=one.entry,
        content=content,
        metadata=entry.get("metadata"),
        ends=[_other(each) for each in (*ends, *ended)],
        beside=[_other(each) for each in beside],
        readers=[] if payload is None else sorted(payload.readers),
        reason=one.reason,
        requested_by=one.requested_by,
        requested_at=one.requested_at,
        state=one.state,
        decided_by=one.decided_by,
        decided_at=one.decided_at,
        note=one.note,
    )


def _other(record: Record) -> OtherEntry:
    return OtherEntry(id=record.id, content=record.content)
