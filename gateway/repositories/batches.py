"""Reads entries off the event loop, a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator

from gateway.repositories.protocol import Entry

_BATCH_FILES = 64
_BATCH_BYTES = 1024 * 1024


async def in_batches(entries: Generator[Entry]) -> AsyncGenerator[Entry]:
    """Yield what a blocking generator yields; it runs in a thread, and holds little at a time.

    Args:
        entries: closed at the end, also where that comes early.
    """
    running: asyncio.Task[list[Entry]] | None = None
    try:
        while True:
            running = asyncio.create_task(asyncio.to_thread(_batch, entries))
            batch = await asyncio.shield(running)
            if not batch:
                return
            for entry in batch:
                yield entry
    finally:
        if running is not None and not running.done():
            await asyncio.wait({running})  # the thread is inside the generator
        await asyncio.to_thread(entries.close)


def _batch(entries: Generator[Entry]) -> list[Entry]:
    batch: list[Entry] = []
    held = 0
    for entry in entries:
        batch.append(entry)
        held += len(entry.content or b"")
        if len(batch) >= _BATCH_FILES or held >= _BATCH_BYTES:
            break
    return batch
