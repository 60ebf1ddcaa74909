"""The batch operation: accepted at once, carried out by a durable job, and reported meanwhile.

The database records how far a batch is, in the same transactions that write its entries. So a job
that is resumed, on any replica and after any failure, continues with the first entry that was not
tried, and no entry is written twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from gateway.contract import Caller, Job, JobRun, Jobs, is_outage
from plugins.knowledge.memory.batches.chunks import Chunks
from plugins.knowledge.memory.batches.operations import entry_id
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.record import new_id
from plugins.knowledge.memory.model.requests import MAX_BATCH_ENTRIES, BatchRequest
from plugins.knowledge.memory.model.responses import (
    BatchEntry,
    BatchError,
    BatchReport,
    BatchResponse,
    BatchResults,
)
from plugins.knowledge.memory.rights.delegation import DelegatedRights
from plugins.knowledge.memory.rights.roles import require_role
from plugins.knowledge.memory.store.batches import (
    OPEN_STATES,
    Batch,
    BatchItem,
    BatchStore,
    new_batch_id,
)
from plugins.knowledge.memory.write.governed import GovernedEntries

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

JOB = "batch"
MAX_CONCURRENT_BATCHES = 4
"""Batches that are carried out at the same time; others wait."""
MAX_OPEN_BATCHES = 20
"""Batches of one person that may be under way."""
MAX_ERRORS = 1000
"""Errors that one answer lists."""
RETRY_TIMEOUT = timedelta(days=1)
"""How long a batch is retried after it was sent, while a store does not answer."""
_MAX_WAIT_S = 10.0
"""Seconds between two retries, at most: so late a batch goes on after its store is back."""

Progress = Callable[[int, int], None]
"""``progress(done, total)``: hears how far a batch is."""


@dataclass(frozen=True, slots=True)
class Batches:
    """Batches of writes.

    Attributes:
        governed: the single operations.
        store: how far the batches are.
        chunks: does some of a batch.
        jobs: the plugin's jobs.
        log: for the admin.
        wait: seconds before the first retry of a store that does not answer.
        last_done: how far each batch was that had not ended at the last :meth:`look_after`.
    """

    governed: GovernedEntries
    store: BatchStore
    chunks: Chunks
    jobs: Jobs
    log: FilteringBoundLogger
    wait: float = 1.0
    last_done: dict[str, int] = field(default_factory=dict)

    def declaration(self) -> Job:
        """The job that the plugin declares."""
        return Job(JOB, self.run, concurrency=MAX_CONCURRENT_BATCHES)

    async def submit(self, request: BatchRequest, caller: Caller) -> BatchResponse:
        """Take a batch, to be done soon.

        Args:
            request: what is asked for.
            caller: who asks; it is done with the rights that they have now.

        Raises:
            MemoryFailed: they may not write, it is too large, or it cannot be kept.
        """
        roles = self.governed.entries.roles
        deletes = request.operation == "delete"
        role, what = (roles.delete, "remove from") if deletes else (roles.write, "write to")
        person = require_role(caller, role, f"{what} memory")
        _check_size(request)
        if await self.store.count_open(person) >= MAX_OPEN_BATCHES:
            raise MemoryFailed(
                ErrorCode.RATE_LIMITED,
                f"You have {MAX_OPEN_BATCHES} batches under way. Wait until one of them has ended.",
            )
        batch = Batch(
            id=new_batch_id(),
            person=person,
            acting=DelegatedRights.of(caller).model_dump(mode="json"),
            operation=request.operation,
            goes_on=request.options.continue_on_error,
            notifies=request.options.notify_on_completion,
            total=len(request.entries),
            sent=self.governed.entries.clock(),
        )
        await self._store(batch, request.entries)
        return _response(batch, ())

    async def report(self, id: str, caller: Caller, offset: int, limit: int) -> BatchReport:
        """How far a batch is, for who sent it and for admins.

        Args:
            id: the batch's.
            caller: who asks.
            offset: the place of the first entry that is told of.
            limit: how many of them at most.

        Raises:
            MemoryFailed: there is no such batch for them.
        """
        batch = await self.store.get(id)
        if batch is None or not (caller.admin or caller.person == batch.person):
            raise MemoryFailed(ErrorCode.NOT_FOUND, "There is no such batch, or it is not yours.")
        # No database counts as far as a caller may.
        items = await self.store.items(id, min(offset, batch.total), limit)
        failures = await self.store.failures(id, MAX_ERRORS) if batch.failed else ()
        after = offset + len(items)
        return BatchReport(
            **dict(_response(batch, failures)),
            operation=batch.operation,
            total=batch.total,
            message=batch.message,
            created_at=batch.sent,
            completed_at=batch.ended,
            offset=offset,
            entries=[_entry(each) for each in items],
            next_offset=after if items and after < batch.total else None,
        )

    async def purge(self, before: datetime) -> int:
        """Forget the batches that were sent before a moment; what they wrote stays.

        Returns:
            How many there were.
        """
        old = await self.store.sent_before(before)
        await self.store.remove(old)
        return len(old)

    async def look_after(self, before: datetime) -> int:
        """As :meth:`purge`, and queue those again that have stood still since the last time.

        Their job was lost: with another replica, or where its start found a full disk.
        """
        forgotten = await self.purge(before)
        stand = await self.store.open_batches()
        for id, done in stand.items():
            if self.last_done.get(id) == done:
                await self.jobs.enqueue(JOB, {"batch": id}, key=f"{id}/{done}")
        self.last_done.clear()
        self.last_done.update(stand)
        return forgotten

    async def run(self, run: JobRun, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out a batch, as a job."""
        id = str(payload.get("batch"))
        return {"batch": id, "status": await self.work(id, run.progress)}

    async def work(self, id: str, progress: Progress = lambda done, total: None) -> str:
        """Carry out a batch from where it stands.

        A store that does not answer is retried for a day.

        Args:
            id: the batch's.
            progress: hears how far it is.

        Returns:
            How it ended; ``gone`` where there is no such batch any more.
        """
        wait = self.wait
        while True:
            try:
                batch = await self.store.get(id)
                if batch is None or batch.status not in OPEN_STATES:
                    return "gone" if batch is None else batch.status
                progress(batch.done, batch.total)
                await self._advance(batch, waited=wait > self.wait)
                wait = self.wait
            except Exception as error:
                self.log.warning("batch waits", batch=id, reason=_reason(error))
                with suppress(Exception):
                    await self.store.set_message(id, "A store does not answer; it is tried again.")
                await asyncio.sleep(wait)
                wait = min(wait * 2, _MAX_WAIT_S)

    async def _advance(self, batch: Batch, *, waited: bool) -> None:
        """Carry out the next entries, or give the batch up where a store was away too long."""
        if waited and self.governed.entries.clock() > batch.sent + RETRY_TIMEOUT:
            await self.chunks.give_up(batch)
        else:
            await self.chunks.do(batch)

    async def _store(self, batch: Batch, entries: Sequence[Any]) -> None:
        """Keep a batch, and queue it; neither where one cannot be done."""
        operation = batch.operation
        items = [
            BatchItem(place, entry_id(operation, each, new_id()), each)
            for place, each in enumerate(entries)
        ]
        try:
            await self.store.add(batch, items)
            try:
                await self.jobs.enqueue(JOB, {"batch": batch.id}, key=batch.id)
            except BaseException:
                await self.store.remove([batch.id])
                raise
        except Exception as error:
            if not is_outage(error):
                raise
            self.log.error("batch not kept", reason=_reason(error))
            raise MemoryFailed(
                ErrorCode.STORAGE_FAILED, "The batch cannot be kept just now; nothing was written."
            ) from error


def _response(batch: Batch, failures: Sequence[BatchItem]) -> BatchResponse:
    return BatchResponse(
        operation_id=batch.id,
        status=batch.status,
        results=BatchResults(
            succeeded=batch.succeeded,
            failed=batch.failed,
            pending=batch.pending,
            errors=[_error(each) for each in failures],
        ),
    )


def _check_size(request: BatchRequest) -> None:
    entries = len(request.entries)
    if entries > MAX_BATCH_ENTRIES:
        raise MemoryFailed(
            ErrorCode.BATCH_FAILED,
            f"The batch has {entries:,} entries; {MAX_BATCH_ENTRIES:,} is the limit. Nothing was "
            "written: send it in parts.",
            {"limit": MAX_BATCH_ENTRIES, "entries": entries},
        )


def _error(item: BatchItem) -> BatchError:
    return BatchError(index=item.place, id=item.entry or None, **(item.error or {}))


def _entry(item: BatchItem) -> BatchEntry:
    return BatchEntry(
        index=item.place,
        id=item.entry,
        status=item.outcome or "waiting",
        request_id=item.approval,
    )


def _reason(error: Exception) -> str:
    """What went wrong, without what was to be written."""
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
