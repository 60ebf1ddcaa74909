"""Small writes of many tasks, which share transactions while there are many of them.

SQLite takes one writer at a time, and each transaction of its own is some trips between the event
loop and the database: where a hundred tasks write a row each, the last waits for all of them. Here
a write that comes while a transaction runs waits for its end, and goes into the next one with all
others that have come meanwhile ("group commit"). One that comes alone is not delayed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from gateway.contract.backend_errors import is_outage

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["GroupCommit"]

MAX_TOGETHER = 100
"""Writes of one transaction: a transaction stays short."""

T = TypeVar("T")
Write = Callable[["AsyncConnection"], Awaitable[T]]
"""``await write(connection)``: what is written, within a transaction that others may share.

It may be called twice, and only the second time counts; so it changes nothing but the database. It
takes no locks that another replica takes in another order.
"""
_Waiting = tuple[Write[Any], "asyncio.Future[Any]"]


class GroupCommit:
    """Writes what many tasks ask for.

    Args:
        begin: opens a transaction (``Database.begin``).
    """

    def __init__(self, begin: Callable[[], AbstractAsyncContextManager[AsyncConnection]]) -> None:
        self._begin = begin
        self._waiting: list[_Waiting] = []
        self._busy = False
        self._task: asyncio.Task[None] | None = None

    async def run(self, write: Write[T]) -> T:
        """Write, and return once that is committed.

        A write that fails takes nothing with it that others asked for, whose transaction it shared.

        Args:
            write: what is written.

        Returns:
            What the write returns.

        Raises:
            Exception: what the write raises, or the database.
        """
        if self._busy:
            future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
            self._waiting.append((write, future))
            return await future
        self._busy = True
        try:
            return await self._alone(write)
        finally:
            self._go_on()

    async def _alone(self, write: Write[T]) -> T:
        async with self._begin() as connection:
            return await write(connection)

    def _go_on(self) -> None:
        self._busy = bool(self._waiting)
        self._task = asyncio.create_task(self._next()) if self._busy else None

    async def _next(self) -> None:
        """Write what waits, and see to what came meanwhile."""
        batch, self._waiting = self._waiting[:MAX_TOGETHER], self._waiting[MAX_TOGETHER:]
        wanted = [each for each in batch if not each[1].done()]  # the others were given up
        try:
            if wanted:
                await self._write(wanted)
        except BaseException as error:
            for _, future in wanted:
                _fail(future, error)
            raise
        finally:
            self._go_on()

    async def _write(self, batch: list[_Waiting]) -> None:
        try:
            async with self._begin() as connection:
                found = [await write(connection) for write, _ in batch]
        except Exception as error:
            if len(batch) == 1 or is_outage(error.__cause__ or error):
                for _, future in batch:
                    _fail(future, error)
            else:  # one of them is at fault, and the others shall not suffer
                for each in batch:
                    await self._write([each])
            return
        for (_, future), value in zip(batch, found, strict=True):
            if not future.done():
                future.set_result(value)


def _fail(future: asyncio.Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
