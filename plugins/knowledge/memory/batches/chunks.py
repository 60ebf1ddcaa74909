"""A batch in chunks: each is embedded at once and written in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import IntegrityError

from gateway.contract import Caller, is_outage
from plugins.knowledge.memory.batches import operations
from plugins.knowledge.memory.batches.deferred_vectors import DeferredVectors, embed_all
from plugins.knowledge.memory.batches.operations import ParsedItem
from plugins.knowledge.memory.batches.working_undo import UndoableWorkingLayer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import person_key
from plugins.knowledge.memory.rights.delegation import DelegatedRights
from plugins.knowledge.memory.store.batches import Batch, BatchItem, BatchStore
from plugins.knowledge.memory.store.unit_of_work import UnitOfWork
from plugins.knowledge.memory.store.writes import Event, lock_event_order
from plugins.knowledge.memory.write.governed import GovernedEntries

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from plugins.knowledge.memory.store.writes import NoticeKind

CHUNK_SIZE = 25
"""Entries of one transaction: others wait for it, with so many about as long as for a query."""
_MAX_CHUNK_CHARACTERS = 128 * 1024
"""Characters of them, unless one alone has more."""


@dataclass(frozen=True, slots=True)
class _Writes:
    """The operations that write, with side effects held back until the commit.

    Attributes:
        governed: the operations.
        vectors: the changes of the vector store, or None where there is no model.
        pads: working memory, whose changes are undone where the transaction fails.
        told: the events that are published after the commit.
    """

    governed: GovernedEntries
    vectors: DeferredVectors | None
    pads: UndoableWorkingLayer
    told: list[Event] = field(default_factory=list)

    def mark(self) -> tuple[int, int]:
        """How many side effects are held back now."""
        return len(self.told), 0 if self.vectors is None else len(self.vectors.waiting)

    def back(self, mark: tuple[int, int]) -> None:
        """Drop the side effects since a mark."""
        del self.told[mark[0] :]
        if self.vectors is not None:
            del self.vectors.waiting[mark[1] :]


@dataclass(frozen=True, slots=True)
class Chunks:
    """Does parts of batches.

    Attributes:
        governed: the single operations.
        store: how far the batches are.
        unit_of_work: the database, on which all of them work.
        log: for the admin.
    """

    governed: GovernedEntries
    store: BatchStore
    unit_of_work: UnitOfWork
    log: FilteringBoundLogger

    async def do(self, batch: Batch) -> None:
        """Do the next entries of a batch, all that a transaction takes.

        Raises:
            Exception: a store does not answer; nothing was written.
        """
        items = _within_limit(await self.store.items(batch.id, batch.done, CHUNK_SIZE))
        asked = [operations.parse_item(batch.operation, each) for each in items]
        caller = DelegatedRights.model_validate(batch.acting).caller(batch.person)
        writes = await self._writes(asked, caller)
        try:
            async with self.unit_of_work.transaction() as connection:
                await lock_event_order(connection)
                if not await self.store.take(connection, batch):
                    return
                tried = await self._tried(connection, batch, asked, caller, writes)
                await self._recorded(connection, batch, tried, writes.told)
        except BaseException:
            writes.pads.revoke()
            raise
        self.governed.entries.tell(writes.told)
        if writes.vectors is not None:
            await writes.vectors.catch_up()

    async def give_up(self, batch: Batch) -> None:
        """End a batch that could not be done for too long."""
        message = "A store did not answer for a day. What follows was not tried: send it again."
        told: list[Event] = []
        async with self.unit_of_work.transaction() as connection:
            await lock_event_order(connection)
            if not await self.store.take(connection, batch):
                return
            (item,) = await self.store.items(batch.id, batch.done, 1)
            failure = MemoryFailed(ErrorCode.BATCH_FAILED, message)
            tried = [operations.failed_item(item, failure)]
            await self._recorded(connection, replace(batch, goes_on=False), tried, told)
        self.governed.entries.tell(told)

    async def _writes(self, asked: Sequence[ParsedItem], caller: Caller) -> _Writes:
        """The operations for some entries, whose vectors are made now, all at once."""
        vectors = self.governed.entries.vectors
        later = None
        if vectors is not None:
            texts = await operations.texts_to_embed(self.governed, asked, caller)
            later = DeferredVectors(vectors, await embed_all(vectors, texts))
        pads = UndoableWorkingLayer(self.governed.entries.working)
        writes = _Writes(self.governed, later, pads)
        told = writes.told.extend
        entries = replace(self.governed.entries, working=pads, vectors=later, tell=told)
        notices = self.governed.approvals.notices.with_listener(told)
        return replace(
            writes,
            governed=replace(
                self.governed,
                entries=entries,
                approvals=replace(self.governed.approvals, notices=notices),
            ),
        )

    async def _tried(
        self,
        connection: Any,
        batch: Batch,
        asked: Sequence[ParsedItem],
        caller: Caller,
        writes: _Writes,
    ) -> list[BatchItem]:
        """Try entries, until the batch ends."""
        tried: list[BatchItem] = []
        for each in asked:
            mark = writes.mark()
            try:
                async with connection.begin_nested():
                    tried.append(
                        await operations.carry_out_item(
                            writes.governed, batch.operation, each, caller
                        )
                    )
            except Exception as error:
                writes.back(mark)
                tried.append(
                    operations.failed_item(each.item, self._failure(batch, each.item, error))
                )
                if not batch.goes_on:
                    break
        return tried

    def _failure(self, batch: Batch, item: BatchItem, error: Exception) -> MemoryFailed:
        """Why an entry failed, in the protocol's words.

        Raises:
            Exception: the error itself, where it says nothing of the entry.
        """
        if isinstance(error, MemoryFailed):
            return error
        if is_outage(error):
            raise error
        if isinstance(error, IntegrityError):
            return MemoryFailed(
                ErrorCode.CONFLICT, "Somebody else wrote this in the same moment. Send it again."
            )
        self.log.error("batch entry failed", batch=batch.id, index=item.place, exc_info=error)
        return MemoryFailed(
            ErrorCode.BATCH_FAILED,
            f"A fault of the portal: its log says more of entry {item.place} of {batch.id}.",
        )

    async def _recorded(
        self, connection: Any, batch: Batch, tried: Sequence[BatchItem], told: list[Event]
    ) -> None:
        """Write down how far the batch is now; tell who sent it, where it has ended."""
        batch = self._moved(batch, tried)
        await self.store.record(connection, batch, tried)
        if batch.ended is None or not batch.notifies:
            return
        body = {
            "operation_id": batch.id,
            "status": batch.status,
            "succeeded": batch.succeeded,
            "failed": batch.failed,
            "pending": batch.pending,
        }
        own = {person_key(batch.person)}
        kind: NoticeKind = "batch_completed" if batch.status == "completed" else "batch_failed"
        told.append(await self.governed.approvals.notices.add_in(connection, own, kind, body))

    def _moved(self, batch: Batch, tried: Sequence[BatchItem]) -> Batch:
        failures = sum(each.outcome == "failed" for each in tried)
        now = replace(
            batch,
            status="processing",
            done=batch.done + len(tried),
            succeeded=batch.succeeded + len(tried) - failures,
            failed=batch.failed + failures,
            pending=batch.pending + sum(each.approval is not None for each in tried),
            message=None,
        )
        if failures and not batch.goes_on:
            left = batch.total - now.done
            message = f"An error ended it. The {left:,} entries after that were not tried."
            return replace(
                now, status="failed", message=message, ended=self.governed.entries.clock()
            )
        if now.done >= batch.total:
            return replace(now, status="completed", ended=self.governed.entries.clock())
        return now


def _within_limit(items: Sequence[BatchItem]) -> Sequence[BatchItem]:
    """As many of some entries as one transaction takes, the first at least."""
    size = 0
    for count, item in enumerate(items):
        size += len(str(item.request))
        if count and size > _MAX_CHUNK_CHARACTERS:
            return items[:count]
    return items
