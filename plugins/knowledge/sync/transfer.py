"""Carries out a plan in batches, so that it can be resumed wherever it stops."""

from __future__ import annotations

import errno
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from gateway.contract import Objects, Tier
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.notes.ids import raw_key
from plugins.knowledge.retrieval.index import Index
from plugins.knowledge.store import Store, write_together
from plugins.knowledge.sync.manifest import FileRecord, Manifest
from plugins.knowledge.sync.plan import Plan

BATCH_SIZE = 32
"""How many documents are written and indexed together."""
CHECKPOINT_INTERVAL_S = 10.0
"""Seconds between two checkpoints: the most work that a killed process does again."""

MIN_FREE_BYTES = 100 * 1024 * 1024
"""Free space below which nothing is written: an embedded index maps its files into memory, and
writing to such a file on a full disk ends the process."""

OnDocuments = Callable[[int, int], None]
"""``progress(done, total)``, in documents."""
SaveManifest = Callable[[Manifest], Awaitable[None]]


def part_of(progress: OnDocuments, done: int, total: int) -> OnDocuments:
    """What is told of a part, as of the whole.

    Args:
        progress: told of the whole.
        done: how much was done before this part.
        total: how much there is to do.
    """
    return lambda some, _: progress(min(done + some, total), total)


class Transfer:
    """One plan on its way into store and index.

    Args:
        objects: where the originals go.
        store: where the documents go.
        index: what finds them.
        save: writes a manifest.
        data_dir: where the embedded services keep their data.
    """

    def __init__(
        self, objects: Objects, store: Store, index: Index, save: SaveManifest, data_dir: Path
    ) -> None:
        self._objects = objects
        self._store = store
        self._index = index
        self._save = save
        self._data_dir = data_dir

    async def carry_out(
        self, plan: Plan, before: Manifest, after: Manifest, progress: OnDocuments
    ) -> None:
        """Write and remove what the plan says; ``after`` is for the caller to save.

        Args:
            plan: the steps.
            before: the manifest as it is.
            after: the manifest that holds once all is done.
            progress: told of every batch that can be found.

        Raises:
            OSError: there is no room, or something cannot be written.
        """
        self._store.hide(plan.removals)  # at once, even where there is no room to record it
        self._check_room()
        waiting = [*plan.puts, *plan.reindex]
        await self._save(_interim(plan, before, after, waiting, started=False))
        await self._remove(plan)
        saved = time.monotonic()
        done, total = 0, len(waiting)
        progress(0, total)

        def found(some: int) -> None:
            nonlocal done
            done += some
            progress(done, total)

        while waiting:
            self._check_room()
            batch, waiting = waiting[:BATCH_SIZE], waiting[BATCH_SIZE:]
            documents = await self._write(plan, batch)
            await self._index.replace(documents, partial(found, len(batch)))
            if waiting and time.monotonic() - saved > CHECKPOINT_INTERVAL_S:
                await self._index.finish()
                await self._save(_interim(plan, before, after, waiting, started=True))
                saved = time.monotonic()
        await self._index.finish()

    def _check_room(self) -> None:
        free = shutil.disk_usage(self._data_dir).free
        if free < MIN_FREE_BYTES:
            megabytes = f"{free // 2**20} MiB are free, {MIN_FREE_BYTES // 2**20} MiB are needed"
            raise OSError(errno.ENOSPC, f"no room left: {megabytes}", str(self._data_dir))

    async def _remove(self, plan: Plan) -> None:
        await self._store.remove(plan.removals)
        await self._index.remove(plan.removals)
        await self._objects.delete(*map(raw_key, plan.raw_removals))

    async def _write(self, plan: Plan, batch: Sequence[str]) -> list[Document]:
        """Store a batch's new documents and fetch those that only the index lacks."""
        puts = [plan.puts[path] for path in batch if path in plan.puts]
        await write_together(self._objects.put(raw_key(put.document.path), put.raw) for put in puts)
        documents = [put.document for put in puts]
        await self._store.put(documents)
        stored = [plan.files[path] for path in batch if path not in plan.puts]
        return documents + [document async for document in self._stored(stored)]

    async def _stored(self, records: Sequence[FileRecord]) -> AsyncIterator[Document]:
        """The stored documents of records; a record whose document is gone serves nothing."""
        keys = [record.entry.key for record in records if record.entry]
        documents = await self._store.documents(keys, Tier.MEMBERS)
        for key, record, document in zip(keys, records, documents, strict=True):
            if document is None:
                record.entry, record.digest = None, ""
                await self._store.remove([key])
                await self._index.remove([key])
            else:
                record.entry = document.entry()
                self._store.show([record.entry])
                yield document


def _interim(
    plan: Plan, before: Manifest, after: Manifest, waiting: Sequence[str], *, started: bool
) -> Manifest:
    """The manifest of a transfer that still has the files in ``waiting`` before it."""
    keys = [entry.key for path in waiting if (entry := plan.files[path].entry)]
    files = before.files
    if started:
        undone = frozenset(waiting)
        files = {path: record for path, record in after.files.items() if path not in undone}
        files |= {path: before.files[path] for path in waiting if path in before.files}
    if removed := frozenset(plan.removals):
        files = {path: _without(record, removed) for path, record in files.items()}
    return (after if started else before).model_copy(
        update={
            "files": files,
            "pending": sorted({*keys, *plan.removals, *before.pending}),
            "pending_raw": sorted({*waiting, *plan.raw_removals, *before.pending_raw}),
        }
    )


def _without(record: FileRecord, removed: frozenset[str]) -> FileRecord:
    """The record, serving nothing if its document is to be removed."""
    if record.entry is None or record.entry.key not in removed:
        return record
    return record.model_copy(update={"entry": None, "digest": ""})
