"""Transactions that are alone with the playbook, and what is done before and after them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from gateway.contract import Database, Objects
from gateway.toolkit.sql import exclusive, lock_number
from plugins.workflows.inputs import AttachmentDraft, Writer
from plugins.workflows.store import attachments, search_texts, version_contents
from plugins.workflows.store.change import Change
from plugins.workflows.store.search_rows import SearchRows
from plugins.workflows.store.search_texts import UnembeddedText, Vectors

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

Embed: TypeAlias = Callable[[str], Awaitable[tuple[str | None, bytes | None]]]
"""``await embed(text)``: the model and the vector of a text, or None and None."""


_BATCH_SIZE = 500
"""Files that are looked for in one query."""


class Transactions:
    """How the playbook is written: one change after another.

    PostgreSQL's writers wait for each other under one lock, as SQLite's do anyway: what they read
    stays as it is until they have written, and none of them ever deadlocks.

    Args:
        database: the plugin's database.
        objects: the plugin's objects, for attached files.
        embed: gives the vectors of texts.
        clock: gives the time, with its zone.
    """

    def __init__(
        self, database: Database, objects: Objects, embed: Embed, clock: Callable[[], datetime]
    ) -> None:
        self._database, self._objects = database, objects
        self._embed, self._clock = embed, clock
        # Writers wait here before they take one of the few connections.
        self._turn = asyncio.Lock()

    async def vectors(self, text: str) -> Vectors:
        """The vector of a text, made before the transaction that writes it."""
        return {text: await self._embed(text)}

    @asynccontextmanager
    async def change(
        self,
        writer: Writer,
        vectors: Vectors | None = None,
        files: Sequence[AttachmentDraft] = (),
    ) -> AsyncGenerator[Change]:
        """A transaction of one writer; the block calls ``Change.finish`` at its end.

        Args:
            writer: who writes.
            vectors: those of texts that are expected.
            files: those that it attaches. If it fails, their bytes are gone again.
        """
        try:
            await attachments.store(self._objects, files)
            async with self._alone() as connection:
                await attachments.ensure(self._objects, files)
                change = Change(connection, writer, self._clock())
                yield change
                await version_contents.record(change)
                lacking = await search_texts.write_texts(change, vectors or {})
        except BaseException:
            if files:
                with suppress(Exception):  # what went wrong first is what the caller hears of
                    await self._clean([each.digest for each in attachments.describe(files)])
            raise
        # The change is written. What fails from here on is made up for: nobody reads these bytes,
        # and search finds the item by its words until it gets its vector.
        with suppress(Exception):
            await self._clean(change.dropped)
            await self._complete(lacking)

    async def sweep(self) -> int:
        """Delete the bytes that no card uses; how many files.

        They are left where a process died, or the object store was away, after a card was deleted.
        """
        gone = 0
        stored = [each async for each in attachments.stored_digests(self._objects)]
        for start in range(0, len(stored), _BATCH_SIZE):
            some = stored[start : start + _BATCH_SIZE]
            async with self._database.read() as connection:
                left = await attachments.unused(connection, some)
            await self._clean(left)  # which looks again, alone with the playbook
            gone += len(left)
        return gone

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[AsyncConnection]:
        async with self._turn, self._database.begin() as connection:
            await exclusive(connection, lock_number("playbook", "items"))
            yield connection

    async def _clean(self, digests: Collection[str]) -> None:
        if digests:
            async with self._alone() as connection:
                await attachments.delete_unused(connection, self._objects, digests)

    async def _complete(self, lacking: Sequence[UnembeddedText]) -> None:
        for type, id, text in lacking:
            model, vector = await self._embed(text)
            if model is not None and vector is not None:
                rows = SearchRows(self._database, type)
                await rows.complete(model, [(id, text, vector)])
