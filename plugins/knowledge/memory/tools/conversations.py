"""The tool that keeps a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Tier, Tool
from plugins.knowledge.memory.algorithms.extraction import Turn
from plugins.knowledge.memory.model.fields import UtcMoment
from plugins.knowledge.memory.tools.annotations import ADDS
from plugins.knowledge.memory.write.conversations import KeptConversation

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

MAX_TURNS = 50
"""Turns of one call."""


class SaidTurn(BaseModel):
    """What somebody said."""

    model_config = ConfigDict(extra="forbid")

    speaker: str = Field(min_length=1, max_length=60, description="Who says it.")
    text: str = Field(min_length=1, max_length=8_000, description="What they say.")
    at: UtcMoment | None = Field(None, description="When: a day or a moment.")


class SaidConversation(BaseModel):
    """What `remember_conversation` takes."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(
        min_length=1, max_length=200, description="What the conversation is called, or its id."
    )
    turns: list[SaidTurn] = Field(
        min_length=1, max_length=MAX_TURNS, description="In their order; more in further calls."
    )


def conversation_tool(memory: Memory) -> Tool:
    """The tool."""

    async def run(asked: SaidConversation, caller: Caller) -> KeptConversation:
        turns = [Turn(each.speaker, each.text, each.at) for each in asked.turns]
        return await memory.conversations(turns, caller, asked.name)

    return Tool(
        "remember_conversation",
        "Keep a conversation for you alone: its turns as they were said, and what it says of "
        "decisions, preferences and plain facts as entries of their own, each with the turn that "
        "its words come from. Sentences that nobody is sure of, and questions, are left in the "
        "turns; of other languages than English only the turns are kept, unless an admin lets a "
        "model read them. Say what it does not find with `remember`.",
        run,
        args=SaidConversation,
        result=KeptConversation,
        annotations=ADDS,
        floor=Tier.PUBLIC,
        title="Remember a conversation",
    )
