"""Asks a model what a conversation says, at once or later, or leaves it to agents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gateway.contract import Caller, Jobs, ModelFailed, Models, Tier, Works
from plugins.knowledge.memory.algorithms.extraction import Extracted, Turn
from plugins.knowledge.memory.extraction.findings import (
    TASK,
    Findings,
    believed,
    parts,
    provider_of,
)
from plugins.knowledge.memory.rights.delegation import DelegatedRights
from plugins.knowledge.memory.rights.extraction_rules import ExtractionRules
from plugins.knowledge.memory.rights.roles import Roles, has_role

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

JOB, WORK, OPERATION = "extract_memory", "extract", "extract_memory"
"""The job that asks later, the kind of work for agents, and what the calls are told as."""
PART_BYTES = 24 * 1024
"""Bytes of a conversation that are read at a time: with names and times, and as JSON, they fit
into an item of work whatever its script."""
_LATER = frozenset({"budget_reached", "throttled", "provider_down", "timeout"})
"""Failures after which the same may work another time."""
_UNREAD = "Its plain sentences are kept. No model has read the rest, and none will:"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model has made of a conversation.

    Attributes:
        found: what it found, and can show the words of.
        left: the numbers of the turns that were not read, part by part.
        failed: why not, or None where nobody was asked.
    """

    found: Sequence[Extracted] = ()
    left: Sequence[range] = ()
    failed: ModelFailed | None = None


@dataclass(frozen=True, slots=True)
class ModelReader:
    """Reads conversations with a model, where the section says so.

    Attributes:
        rules: whose model.
        roles: who may write to memory.
        models: the models.
        works: takes work for agents.
        jobs: the plugin's jobs.
        log: for the admin.
    """

    rules: ExtractionRules
    roles: Roles
    models: Models
    works: Works
    jobs: Jobs
    log: FilteringBoundLogger = field(repr=False)

    @property
    def offered(self) -> Works | None:
        """The work for agents, where conversations become some."""
        return self.works if self.rules.agents else None

    async def __call__(self, turns: Sequence[Turn], caller: Caller) -> Reading:
        """Ask now; nothing is written before, since the client's model may be asked in rounds.

        Args:
            turns: the conversation.
            caller: who sends it, and pays.
        """
        if not (self.rules.model or self.rules.agents):
            return Reading()
        left = list(parts(turns, PART_BYTES))
        found: list[Extracted] = []
        if not (self.rules.model and self.models.available("simple")):
            return Reading(found, left)
        while left:
            try:
                found += await self.ask(turns, left[0], caller)
            except ModelFailed as failed:
                self.log.info("conversation_not_read", reason=failed.code)
                return Reading(found, left, failed)
            left.pop(0)
        return Reading(found)

    async def ask(self, turns: Sequence[Turn], part: range, caller: Caller) -> list[Extracted]:
        """What the model finds in some turns.

        Args:
            turns: the conversation.
            part: the numbers of the turns.
            caller: who pays.

        Raises:
            ModelFailed: there is no answer.
        """
        shown = [turns[number] for number in part]
        prompt = json.dumps({"turns": as_context(shown)}, ensure_ascii=False)
        answer = await self.models.generate(
            Findings, prompt, "simple", caller=caller, operation=OPERATION, instructions=TASK
        )
        found = believed(answer.value, shown, provider_of(answer.provenance))
        return [replace(each, turn=each.turn + part.start) for each in found]

    async def later(
        self, reading: Reading, turns: Sequence[Turn], ids: Sequence[str], caller: Caller
    ) -> str:
        """Have what was not read be read later: by the model in a job, or by an agent.

        Args:
            reading: what was read.
            turns: the conversation.
            ids: the entries that hold its turns.
            caller: who sent it.

        Returns:
            What happens, in a sentence for them; empty where all is read, or nobody was asked.
        """
        failed = reading.failed
        if not reading.left:
            return ""
        if failed is not None and failed.code in _LATER and await self._has_own_model():
            rights = DelegatedRights.of(caller).model_dump(mode="json")
            for part in reading.left:
                some = [ids[number] for number in part]
                await self.jobs.enqueue(JOB, {"turns": some, "rights": rights}, key=some[0])
            return f"A model reads it later, and keeps what it finds: {failed.message}"
        if not (self.rules.agents and self._may_take(caller)):
            return f"{_UNREAD} {failed.message}" if failed is not None else ""
        for part in reading.left:
            shown = as_context([turns[number] for number in part])
            named = [{**one, "id": ids[number]} for one, number in zip(shown, part, strict=True)]
            key = f"{caller.person}/{ids[part.start]}"
            await self.works.publish(WORK, key, {"turns": named}, tier=Tier.MEMBERS)
        return (
            "Its plain sentences are kept. An agent of yours can find the rest: it is work that "
            "take_work gives to you alone."
        )

    async def _has_own_model(self) -> bool:
        """Whether the portal has the model: a client's is not there any more when a job runs."""
        return await self.models.expected_cost("simple", 1, 1) is not None

    def _may_take(self, caller: Caller) -> bool:
        """Whether who sent a conversation may take the work, and what comes of it be kept."""
        alone = Caller(caller.person, Tier.MEMBERS)
        return caller.tier.allows(Tier.MEMBERS) and has_role(alone, self.roles.write)


def as_context(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Turns as a model is shown them, numbered from 0."""
    return [
        {
            "turn": number,
            "speaker": one.speaker,
            "text": one.text,
            **({"at": one.at.isoformat()} if one.at is not None else {}),
        }
        for number, one in enumerate(turns)
    ]
