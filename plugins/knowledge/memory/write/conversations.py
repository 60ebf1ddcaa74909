"""Keeps a conversation: its turns, and what it says that is worth finding by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from gateway.contract import Caller
from plugins.knowledge.memory.algorithms.extraction import Extracted, Extractor, Kind, Turn
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.errors import validate
from plugins.knowledge.memory.model.requests import CreateRequest
from plugins.knowledge.memory.model.responses import NearEntry
from plugins.knowledge.memory.write.governed import GovernedEntries

FROM = "from"
"""The custom field with the id of the turn whose words an entry has."""


class KeptSentence(BaseModel):
    """Something that a conversation says, kept by itself."""

    id: str
    kind: Kind
    who: str
    what: str = Field(description="The sentence, as it was said.")
    turn: str = Field(description="The id of the entry with the whole turn.")
    near: list[NearEntry] = Field(
        default_factory=list,
        description="Earlier entries near in meaning: say how they go together (settle_memory).",
    )


class KeptConversation(BaseModel):
    """A conversation that was kept."""

    turns: list[str] = Field(description="The ids of its turns, in their order.")
    found: list[KeptSentence] = Field(description="What it says that is found by itself.")


@dataclass(frozen=True, slots=True)
class Conversations:
    """Keeps conversations, for who sends them alone.

    Attributes:
        governed: the operations that write.
        extractor: finds what is worth keeping by itself.
    """

    governed: GovernedEntries
    extractor: Extractor

    async def __call__(self, turns: Sequence[Turn], caller: Caller, name: str) -> KeptConversation:
        """Keep a conversation: each turn in ``episodic``, and what is found in ``semantic``.

        Args:
            turns: in their order.
            caller: who sends it.
            name: what the conversation is called; its turns are neighbours by that.

        Raises:
            MemoryFailed: the caller may not write, or a turn is too large.
        """
        extracted = await self.extractor(turns)
        ids = [await self._keep_turn(turn, caller, name) for turn in turns]
        found = [await self._keep(each, ids[each.turn], caller, name) for each in extracted]
        return KeptConversation(turns=ids, found=found)

    async def _keep_turn(self, turn: Turn, caller: Caller, name: str) -> str:
        entry = {
            "content": f"{turn.speaker}: {turn.text}",
            "metadata": {"author": turn.speaker},
            "source": {"identifier": name},
            "validity": {"event_at": turn.at},
        }
        made = await self.governed.create(_request(entry, Layer.EPISODIC), caller)
        return made.entry.id

    async def _keep(self, one: Extracted, turn: str, caller: Caller, name: str) -> KeptSentence:
        entry = {
            "content": f"{one.who}: {one.what}",
            "metadata": {"author": one.who, "tags": [str(one.kind)], "custom": {FROM: turn}},
            "source": {"identifier": name},
            "validity": {"event_at": one.when},
        }
        made = await self.governed.create(_request(entry, Layer.SEMANTIC), caller)
        return KeptSentence(
            id=made.entry.id,
            kind=one.kind,
            who=one.who,
            what=one.what,
            turn=turn,
            near=made.near,
        )


def _request(entry: Mapping[str, object], layer: Layer) -> CreateRequest:
    return validate(CreateRequest, {"entry": entry, "options": {"layer": {"type": layer}}})
