"""Whether a model reads conversations, and whose: ``memory.extraction`` of the section."""

from __future__ import annotations

from pydantic import Field

from gateway.contract import PluginConfig


class ExtractionRules(PluginConfig):
    """Who looks for what a conversation says, beside the rules; nobody where nothing is said."""

    model: bool = Field(
        False,
        description="Whether a model is asked: the portal's (role simple), within the budget of "
        "who sends the conversation; where the portal has none, that of their client.",
    )
    agents: bool = Field(
        False,
        description="Whether it becomes work for the agents of who sent it, where no model "
        "answers (take_work).",
    )
