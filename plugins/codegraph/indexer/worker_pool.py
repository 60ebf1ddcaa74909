"""A pool of worker processes. If one dies or hangs, only the file that caused it is lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, Iterable
from typing import TypeVar

import msgspec

from gateway.toolkit.child_process import PIPE, Child, spawn
from plugins.codegraph.indexer.tasks import Parsed, Task
from plugins.codegraph.store.rows import FileGraph

MAX_WORKERS = 4
TASK_TIMEOUT_S = 60.0
"""Seconds per task, plus one second for each of its files."""
MAX_MEMORY_KIB = 320 * 1024
"""Peak memory, in KiB, after which a worker is replaced once its task is done."""

Result = TypeVar("Result", Parsed, FileGraph)


class Crashed(Exception):
    """A worker died during a task; the message says how."""


class Hung(Crashed):
    """A worker was killed because its task took too long."""


class TaskFailed(Exception):
    """A task failed because of a bug here; the message is the error."""


class FileFailure(msgspec.Struct, frozen=True):
    """A file that no worker survived, and what happened to them."""

    path: str
    reason: str


class _Process:
    """One worker process."""

    def __init__(self, process: Child) -> None:
        self._process = process
        self.memory = 0

    @classmethod
    async def started(cls) -> _Process:
        paths = [path for path in sys.path if path]
        process = await spawn(
            *(sys.executable, "-m", "plugins.codegraph.indexer.worker"),
            stdin=PIPE,
            stdout=PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # Ctrl-C goes to the portal alone, which then stops the workers
        )
        return cls(process)

    async def run(self, task: Task, kind: type[Result]) -> list[Result]:
        """Run a task.

        Raises:
            Crashed: the process died.
            Hung: it was killed because it took too long.
            TaskFailed: the task failed.
        """
        try:
            async with asyncio.timeout(TASK_TIMEOUT_S + len(task.paths)):
                return await self._run(task, kind)
        except TimeoutError:
            raise Hung(f"it took longer than {TASK_TIMEOUT_S:.0f} seconds") from None
        except (asyncio.IncompleteReadError, ConnectionError):
            code = await self._process.wait()
            raise Crashed(f"the process that read it ended with code {code}") from None

    async def _run(self, task: Task, kind: type[Result]) -> list[Result]:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise Crashed("the process has no pipes")
        data = msgspec.msgpack.encode(task)
        stdin.write(len(data).to_bytes(4, "big") + data)
        await stdin.drain()
        results: list[Result] = []
        decoder = msgspec.msgpack.Decoder(tuple[str, msgspec.Raw])
        while True:
            size = int.from_bytes(await stdout.readexactly(4), "big")
            what, value = decoder.decode(await stdout.readexactly(size))
            if what == "e":
                self.memory = msgspec.msgpack.decode(value, type=int)
                return results
            if what == "x":
                raise TaskFailed(msgspec.msgpack.decode(value, type=str))
            results.append(msgspec.msgpack.decode(value, type=kind))

    async def end(self) -> None:
        """Kill the process."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


class WorkerPool:
    """The worker processes of a portal, started on demand.

    Args:
        most: the most processes.
    """

    def __init__(self, most: int | None = None) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self._most = most or max(1, min(cores or 1, MAX_WORKERS))
        self._free: list[_Process] = []
        self._turns = asyncio.Semaphore(self._most)
        self._warming: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def most(self) -> int:
        """The most processes."""
        return self._most

    async def run(self, task: Task, kind: type[Result]) -> list[Result | FileFailure]:
        """Run a task; a file that no worker survives gives a :class:`FileFailure` instead of a
        result.

        Raises:
            TaskFailed: the task failed because of a bug here.
        """
        async with self._turns:
            try:
                return list(await self._once(task, kind))
            except Crashed as reason:
                # A worker may have died before it got the task, so retry even a single file.
                if len(task.paths) == 1 and isinstance(reason, Hung):
                    return [FileFailure(task.paths[0], str(reason))]
            found: list[Result | FileFailure] = []
            for path in task.paths:
                found += await self._alone(task.only(path), kind)
            return found

    async def each(
        self, tasks: Iterable[Task], kind: type[Result]
    ) -> AsyncGenerator[list[Result | FileFailure]]:
        """Run many tasks concurrently, and yield their results as they complete.

        Few more are started than are consumed, so that results do not pile up.
        """
        pending: set[asyncio.Task[list[Result | FileFailure]]] = set()
        remaining = iter(tasks)
        try:
            while True:
                while len(pending) < self._most + 1 and (task := next(remaining, None)) is not None:
                    pending.add(asyncio.ensure_future(self.run(task, kind)))
                if not pending:
                    return
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    yield await each
        finally:
            for each in pending:
                each.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    @property
    def cold(self) -> bool:
        """Whether the next task has to wait for a process to start."""
        warming = self._warming is not None and not self._warming.done()
        return not (self._closed or self._free or warming)

    def warm(self, task: Task) -> None:
        """Start a process before it is needed, in the background; returns at once.

        Args:
            task: run first, so that the process has loaded what such tasks need.
        """
        if not self.cold:
            return

        async def work() -> None:
            with contextlib.suppress(TaskFailed, OSError):  # the next real task gets the same error
                await self.run(task, Parsed)

        self._warming = asyncio.create_task(work())

    async def close(self) -> None:
        """Stop all processes."""
        self._closed = True
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        free, self._free = self._free, []
        for process in free:
            await process.end()

    async def _alone(self, task: Task, kind: type[Result]) -> list[Result | FileFailure]:
        try:
            return list(await self._once(task, kind))
        except Crashed as reason:
            return [FileFailure(task.paths[0], str(reason))]

    async def _once(self, task: Task, kind: type[Result]) -> list[Result]:
        process = self._free.pop() if self._free else await _Process.started()
        try:
            results = await process.run(task, kind)
        except BaseException:
            # Even if this is cancelled: the process may be in the middle of a task.
            await asyncio.shield(process.end())
            raise
        if self._closed or process.memory > MAX_MEMORY_KIB:
            await process.end()
        else:
            self._free.append(process)
        return results
