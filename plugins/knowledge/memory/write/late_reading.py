"""What is read of a conversation after it was kept: by a job that waited, or by an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from gateway.contract import Caller, Job, JobRun, Tier, ToolFailed, Work, WorkAnswer
from plugins.knowledge.memory.algorithms.extraction import Extracted, FoundBy, Turn
from plugins.knowledge.memory.extraction.findings import (
    TASK,
    Findings,
    believed,
    merged,
    problems,
)
from plugins.knowledge.memory.extraction.reader import JOB, WORK
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.rights.delegation import DelegatedRights
from plugins.knowledge.memory.write.conversations import Conversations

_FOUND = TypeAdapter(list[Extracted])
MAX_CONCURRENT = 2
"""Conversations that are read at the same time."""


@dataclass(frozen=True, slots=True)
class LateReading:
    """Reads what was kept before.

    Attributes:
        conversations: keeps what is found.
    """

    conversations: Conversations

    def job(self) -> Job:
        """The job that asks the model again."""
        return Job(JOB, self.run, concurrency=MAX_CONCURRENT)

    def work(self) -> Work:
        """The kind of work for agents."""
        return Work(
            name=WORK,
            title="What a conversation of yours decided, prefers and states",
            task=TASK,
            schema=Findings,
            accept=self.accept,
            check=_check,
            may_read=_is_theirs,
        )

    async def run(self, run: JobRun, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the model about turns, and keep what it finds; it waits where the budget is reached.

        The turns are read anew, so that what was forgotten or erased meanwhile is not read, and
        their owner is who pays.
        """
        ids = [str(each) for each in payload["turns"]]
        reads = self.conversations.governed.entries.reads
        owner = await reads.owner_of(ids[0])
        if owner is None or not self.conversations.reader.models.available("simple"):
            return {"kept": 0}
        caller = DelegatedRights.model_validate(payload["rights"]).caller(owner)
        records = await self._records(ids, caller)
        turns = [_turn(each) for each in records]
        if not turns:
            return {"kept": 0}
        reader = self.conversations.reader

        async def ask() -> Any:
            found = await reader.ask(turns, range(len(turns)), caller)
            return _FOUND.dump_python(found, mode="json")

        found = _FOUND.validate_python(await run.step("ask", ask))
        return {"kept": await self._keep(records, turns, found, caller)}

    async def accept(self, answer: WorkAnswer) -> None:
        """Keep what an agent found; what cannot show its words any more is left.

        Ids are made from the words, so that what was kept before a crash is not kept again.
        """
        caller = Caller(answer.source.person, Tier.MEMBERS)
        ids = [str(each["id"]) for each in answer.context["turns"]]
        records = await self._records(ids, caller) if answer.source.person else []
        places = {record.id: number for number, record in enumerate(records)}
        turns = [_turn(each) for each in records]
        there = [
            one.model_copy(update={"turn": places[ids[one.turn]]})
            for one in answer.value.found
            if ids[one.turn] in places
        ]
        by = FoundBy("agent", answer.source.model)
        found = believed(Findings(found=there), turns, by)
        await self._keep(records, turns, found, caller)

    async def _records(self, ids: Sequence[str], caller: Caller) -> list[Record]:
        reads = self.conversations.governed.entries.reads
        found = await reads.read(ids, caller_keys(caller))
        return [found[id] for id in ids if id in found and found[id].owner == caller.person]

    async def _keep(
        self,
        records: Sequence[Record],
        turns: Sequence[Turn],
        found: Sequence[Extracted],
        caller: Caller,
    ) -> int:
        """Keep what the rules had not found before; the number of entries that are new."""
        rules = await self.conversations.extractor(turns)
        new = [each for each in merged(rules, found) if each.by is not None]
        ids = [each.id for each in records]
        kept = 0
        for each in new:
            name = records[each.turn].source.identifier or ""
            made = await self.conversations.keep(each, ids[each.turn], caller, name)
            kept += made is not None
        return kept


def _turn(record: Record) -> Turn:
    """What an entry keeps of a turn."""
    speaker = record.metadata.author or ""
    return Turn(speaker, record.content.removeprefix(f"{speaker}: "), record.validity.event_at)


async def _check(findings: Findings, context: Mapping[str, Any]) -> None:
    """Tell an agent what cannot be believed of its answer.

    Raises:
        ToolFailed: something; says what.
    """
    turns = [Turn(str(one["speaker"]), str(one["text"])) for one in context["turns"]]
    if wrong := list(problems(findings, turns)):
        raise ToolFailed("not_quoted", f"{'; '.join(wrong[:5])}. Mend it, or leave it out.")


async def _is_theirs(key: str, caller: Caller) -> bool:
    """Whether a conversation is a caller's own: nobody else reads it, whatever their tier."""
    return caller.person is not None and key.rpartition("/")[0] == caller.person
