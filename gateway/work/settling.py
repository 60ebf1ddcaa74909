"""Puts answers to use: finds the one that counts, and hands it to its plugin, in a durable job.

What stands in the database decides where a job goes on. The plugin's code runs in a step of the job
that may run twice where a process dies in it; ``WorkAnswer.once`` tells the plugin whether it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select, update

from auth.stores import utc_now
from gateway.contract.backend_errors import is_outage
from gateway.contract.failures import ToolFailed
from gateway.contract.jobs import JobRun
from gateway.contract.work import Work, WorkAnswer, WorkSource, WorkState
from gateway.identity.stores.connection import Reached
from gateway.observability.logs import get_logger
from gateway.toolkit.sql import exclusive, insert_into
from gateway.work.lock import LOCK
from gateway.work.records import Answer, Outcome, WorkItem
from gateway.work.tables import answers, applied, items, leases

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.contract import Database

MAX_REFUSALS = 3
"""Times that a plugin may refuse what was answered; then nobody is asked any more."""

log = get_logger(__name__)


class Settling:
    """The job that settles an item.

    Args:
        database: where items are kept.
        kinds: what is declared of a kind, by its full name; None where its plugin is not open.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(
        self,
        database: Database,
        kinds: Callable[[str], Work | None],
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._database = Reached(database)
        self._kinds, self._clock = kinds, clock

    async def run(self, job: JobRun, payload: Mapping[str, Any]) -> str:
        """Settle the item that the payload names; returns its state afterwards."""
        item, brought = await self._answered(payload["item"])
        work = None if item is None else self._kinds(item.kind)
        if item is None or work is None or not brought:
            return "gone"
        try:
            return await self._settle(job, work, item, brought)
        except Exception as error:
            if is_outage(error):  # it is tried again, and nobody is to blame
                raise
            log.exception("work_not_settled", kind=item.kind, item=item.id)
            reason = f"{item.plugin} failed: {type(error).__name__}."
            return await self._failed(item, reason)

    async def _settle(
        self, job: JobRun, work: Work, item: WorkItem, brought: Sequence[Answer]
    ) -> str:
        if not (counts := agreed(brought, work)):
            if item.extra == 0:
                return await self._move(item, "open", extra=1)
            counts = await self._settled(work, item, brought)
        if not counts:
            return await self._move(item, "unsettled", reason="The answers do not agree.")
        chosen = counts[0]
        accept = partial(self._accept, work, self._answer(work, item, chosen))
        refused = await job.step(f"accept {chosen.id}", accept)
        if refused is not None:
            return await self._refuse(item, refused)
        same = {each.id for each in counts}
        outcomes: dict[str, Outcome] = {
            each.id: "agreed" if each.id in same else "differed" for each in brought
        }
        return await self._end(item, outcomes | {chosen.id: "accepted"})

    async def _accept(self, work: Work, answer: WorkAnswer) -> str | None:
        """Hand an answer to its plugin; the reason why it is refused, or None."""
        try:
            await work.accept(answer)
        except ToolFailed as refused:
            return refused.message
        return None

    async def _settled(
        self, work: Work, item: WorkItem, brought: Sequence[Answer]
    ) -> Sequence[Answer]:
        """The answer that the plugin lets count, where people do not agree."""
        if work.settle is None:
            return ()
        found = await work.settle([self._answer(work, item, each) for each in brought])
        return [each for each in brought if found is not None and each.id == found.id]

    def _answer(self, work: Work, item: WorkItem, answer: Answer) -> WorkAnswer:
        return WorkAnswer(
            id=answer.id,
            key=item.key,
            context=item.context or {},
            value=work.schema.model_validate(answer.answer),
            source=WorkSource(answer.person, answer.client, answer.model, answer.at),
            once=partial(self._once, answer.id),
        )

    async def _once(self, answer: str, connection: AsyncConnection) -> bool:
        row = {"answer": answer, "at": self._clock()}
        new = insert_into(connection, applied).values(row).on_conflict_do_nothing()
        return await connection.scalar(new.returning(applied.c.answer)) is not None

    # The database.

    async def _answered(self, id: str) -> tuple[WorkItem | None, Sequence[Answer]]:
        """An item that waits to be settled, and its answers, the oldest first."""
        query = select(items).where(items.c.id == id, items.c.state == "answered")
        waiting = select(answers).where(answers.c.item == id, answers.c.outcome == "waits")
        async with self._database.connect() as connection:
            row = (await connection.execute(query)).first()
            if row is None:
                return None, ()
            found = await connection.execute(waiting.order_by(answers.c.at, answers.c.id))
            return WorkItem.of(row), [Answer.of(each) for each in found]

    async def _refuse(self, item: WorkItem, reason: str) -> str:
        """Have an item answered anew, or by nobody any more."""
        refusals = item.refusals + 1
        log.info("work_refused", kind=item.kind, item=item.id, refusals=refusals)
        state: WorkState = "open" if refusals < MAX_REFUSALS else "unsettled"
        values = {"refusals": refusals, "extra": 0, "reason": reason}
        return await self._move(item, state, close="refused", **values)

    async def _failed(self, item: WorkItem, reason: str) -> str:
        """Keep what was answered: it is tried again, and after some times by an admin's word."""
        refusals = item.refusals + 1
        state: WorkState = "answered" if refusals < MAX_REFUSALS else "unsettled"
        return await self._move(item, state, refusals=refusals, reason=reason)

    async def _move(
        self, item: WorkItem, state: WorkState, close: Outcome | None = None, **values: Any
    ) -> str:
        """Change the state of an item that waited to be settled; its answers end where it says."""
        here = update(items).where(items.c.id == item.id, items.c.state == "answered")
        async with self._database.begin() as connection:
            await exclusive(connection, LOCK)
            if close is not None:
                await _close(connection, item.id, close)
            await connection.execute(here.values(state=state, changed=self._clock(), **values))
        return state

    async def _end(self, item: WorkItem, outcomes: Mapping[str, Outcome]) -> str:
        """Note what has become of an item and its answers; what they said is kept no longer."""
        values = {"state": "accepted", "context": None, "reason": None, "changed": self._clock()}
        here = update(items).where(items.c.id == item.id, items.c.state == "answered")
        async with self._database.begin() as connection:
            await exclusive(connection, LOCK)
            if (await connection.execute(here.values(values))).rowcount == 0:
                return "gone"  # withdrawn meanwhile, and its answers with it
            for id, outcome in outcomes.items():
                ended = update(answers).where(answers.c.id == id)
                await connection.execute(ended.values(outcome=outcome, answer=None))
            await connection.execute(delete(leases).where(leases.c.item == item.id))
        return "accepted"


def agreed(brought: Sequence[Answer], work: Work) -> Sequence[Answer]:
    """The answers that as many people agree on as it takes, the oldest first; or none."""
    values = [work.schema.model_validate(each.answer) for each in brought]
    for place, value in enumerate(values):
        same = [
            each
            for other, each in enumerate(brought)
            if other == place or work.agree(value, values[other])
        ]
        if len(same) >= work.opinions:
            return same
    return ()


async def _close(connection: AsyncConnection, item: str, outcome: Outcome) -> None:
    waiting = update(answers).where(answers.c.item == item, answers.c.outcome == "waits")
    await connection.execute(waiting.values(outcome=outcome, answer=None))
