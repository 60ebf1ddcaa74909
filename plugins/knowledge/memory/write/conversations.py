"""Keeps a conversation: its turns, and what it says that is worth finding by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from gateway.contract import Caller
from plugins.knowledge.memory.algorithms.extraction import Extracted, Extractor, Kind, Turn
from plugins.knowledge.memory.algorithms.foreign import has_foreign
from plugins.knowledge.memory.extraction.findings import merged
from plugins.knowledge.memory.extraction.reader import ModelReader, Reading
from plugins.knowledge.memory.model.entry import FROM, Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed, validate
from plugins.knowledge.memory.model.requests import CreateRequest
from plugins.knowledge.memory.model.responses import NearEntry
from plugins.knowledge.memory.rights.roles import require_role
from plugins.knowledge.memory.write.governed import GovernedEntries

QUOTE, FOUND_BY, MODEL = "quote", "found_by", "model"
"""Custom fields of what a model found: the words of the turn, whose model it is, and its name."""


def _is_none(value: object) -> bool:
    return value is None


class KeptSentence(BaseModel):
    """Something that a conversation says, kept by itself."""

    id: str
    kind: Kind
    who: str
    what: str = Field(description="The sentence, as it was said; a model's own where it found it.")
    turn: str = Field(description="The id of the entry with the whole turn.")
    quote: str | None = Field(
        None,
        exclude_if=_is_none,
        description="Of what a model found: the words of the turn that say it.",
    )
    found_by: str | None = Field(
        None,
        exclude_if=_is_none,
        description="Of what a model found: whose (model, client or agent), and its name.",
    )
    near: list[NearEntry] = Field(
        default_factory=list,
        description="Entries near in meaning: say how they go together (settle_memory).",
    )


class KeptConversation(BaseModel):
    """A conversation that was kept."""

    turns: list[str] = Field(description="The ids of its turns, in their order.")
    found: list[KeptSentence] = Field(description="What it says that is found by itself.")
    later: str | None = Field(
        None,
        exclude_if=_is_none,
        description="What of it is read later, by whom, and why; or why no model has read it.",
    )
    note: str | None = Field(
        None, exclude_if=_is_none, description="What nothing was looked for in, and what to do."
    )


@dataclass(frozen=True, slots=True)
class Conversations:
    """Keeps conversations, for who sends them alone.

    Attributes:
        governed: the operations that write.
        extractor: finds what is worth keeping by itself.
        reader: asks a model for more, where the section says so.
    """

    governed: GovernedEntries
    extractor: Extractor
    reader: ModelReader

    async def __call__(self, turns: Sequence[Turn], caller: Caller, name: str) -> KeptConversation:
        """Keep a conversation: each turn in ``episodic``, and what is found in ``semantic``.

        Args:
            turns: in their order.
            caller: who sends it.
            name: what the conversation is called; its turns are neighbours by that.

        Raises:
            MemoryFailed: the caller may not write, or a turn is too large.
        """
        require_role(caller, self.governed.entries.roles.write, "write to memory")
        reading = await self.reader(turns, caller)
        extracted = merged(await self.extractor(turns), reading.found)
        ids: list[str] = []
        for turn in turns:
            before = ids[-1] if ids else None
            ids.append(await self._keep_turn(turn, caller, name, before))
        kept = [await self.keep(each, ids[each.turn], caller, name) for each in extracted]
        later = await self.reader.later(reading, turns, ids, caller)
        found = [each for each in kept if each is not None]
        note = _note(turns, self._read(reading, len(turns)), by_model=bool(later))
        return KeptConversation(turns=ids, found=found, later=later or None, note=note)

    def _read(self, reading: Reading, turns: int) -> frozenset[int]:
        """The numbers of the turns that a model has read."""
        if not (self.reader.rules.model or self.reader.rules.agents):
            return frozenset()
        return frozenset(range(turns)).difference(*reading.left)

    async def _keep_turn(self, turn: Turn, caller: Caller, name: str, before: str | None) -> str:
        entry = {
            "content": f"{turn.speaker}: {turn.text}",
            "metadata": {"author": turn.speaker},
            "source": {"identifier": name},
            "validity": {"event_at": turn.at},
        }
        request = _request(entry, Layer.EPISODIC)
        return (await self.governed.create(request, caller, after=before)).entry.id

    async def keep(
        self, one: Extracted, turn: str, caller: Caller, name: str
    ) -> KeptSentence | None:
        """Keep something that a conversation says.

        Args:
            one: what.
            turn: the id of the entry with the turn.
            caller: whose it is.
            name: what the conversation is called.

        Returns:
            What was kept; None where a model's finding was kept before.
        """
        entry = {
            "content": f"{one.who}: {one.what}",
            "metadata": {"author": one.who, "tags": _tags(one), "custom": _origin(one, turn)},
            "source": {"identifier": name},
            "validity": {"event_at": one.when},
        }
        id = None if one.by is None else _id_of(one, turn)
        try:
            request = _request(entry, Layer.SEMANTIC)
            made = await self.governed.create(request, caller, id=id, turn=turn)
        except MemoryFailed as failed:
            if id is not None and failed.number is ErrorCode.CONFLICT:
                return None
            raise
        return KeptSentence(
            id=made.entry.id,
            kind=one.kind,
            who=one.who,
            what=one.what,
            turn=turn,
            quote=one.quote or None,
            found_by=None if one.by is None else f"{one.by.kind} {one.by.model}",
            near=made.near,
        )


_BY_MODEL = (
    "A model reads other languages, where an admin lets one read conversations (memory.extraction)."
)


def _note(turns: Sequence[Turn], read: frozenset[int], *, by_model: bool) -> str | None:
    """That rules could not read some turns, and no model has; None where there are none.

    Where a model was to read them (``by_model``), it is told why it has not.
    """
    missed = sum(has_foreign(each.text) for at, each in enumerate(turns) if at not in read)
    if not missed:
        return None
    note = (
        f"{missed} of {len(turns)} turns seem to be in another language than English, all or in "
        "part. They are kept and found as they were said, but the rules that find decisions, "
        "preferences and facts read English alone: keep those with remember."
    )
    return note if by_model else f"{note} {_BY_MODEL}"


def _tags(one: Extracted) -> list[str]:
    """What an entry is found by; answers show it, so who found it stands there too."""
    found_by = () if one.by is None else (f"found-by-{one.by.kind}",)
    return [str(one.kind), *found_by]


def _origin(one: Extracted, turn: str) -> dict[str, str]:
    """Which words an entry comes from, and who found them where no rule did."""
    if one.by is None:
        return {FROM: turn}
    return {FROM: turn, QUOTE: one.quote, FOUND_BY: one.by.kind, MODEL: one.by.model}


def _id_of(one: Extracted, turn: str) -> str:
    """The id of what a model found: the same where the same words are found again."""
    said = f"{turn}\0{one.kind}\0{one.quote}".encode()
    return f"mem_{hashlib.blake2b(said, digest_size=12).hexdigest()}"


def _request(entry: Mapping[str, object], layer: Layer) -> CreateRequest:
    return validate(CreateRequest, {"entry": entry, "options": {"layer": {"type": layer}}})
