"""A few worker processes, and their tasks. One that dies or hangs costs the file that did it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, Iterable
from typing import TypeVar

import msgspec

from plugins.codegraph.indexer.tasks import Parsed, Task
from plugins.codegraph.store.rows import FileGraph

MAX_WORKERS = 4
TASK_TIMEOUT_S = 60.0
"""Seconds that one file may take; a task gets as many, and a second for each of its files."""
MAX_MEMORY_KIB = 320 * 1024
"""KiB after which a worker is replaced, once its task is done."""

Result = TypeVar("Result", Parsed, FileGraph)


class Crashed(Exception):
    """A worker died in the middle of a task; the message says how."""


class Hung(Crashed):
    """A worker was ended, since its task took too long."""


class TaskFailed(Exception):
    """A task failed with an error of ours; the message says which."""


class FileFailure(msgspec.Struct, frozen=True):
    """A file whose task no worker survived, and what happened to them."""

    path: str
    reason: str


class _Process:
    """One worker process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.memory = 0

    @classmethod
    async def started(cls) -> _Process:
        paths = [path for path in sys.path if path]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "plugins.codegraph.indexer.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # a Ctrl-C is the portal's, which then ends the workers
        )
        return cls(process)

    async def run(self, task: Task, kind: type[Result]) -> list[Result]:
        """Carry out a task.

        Raises:
            Crashed: the process died.
            Hung: it was ended as it took too long.
            Failed: the task failed.
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
        """End the process, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


class WorkerPool:
    """The worker processes of a portal, started when they are first needed.

    Args:
        most: how many there are at most.
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
        """How many processes there are at most."""
        return self._most

    async def run(self, task: Task, kind: type[Result]) -> list[Result | FileFailure]:
        """Carry out a task; a file that no worker survives is named instead of its result.

        Raises:
            Failed: the task failed with an error of ours.
        """
        async with self._turns:
            try:
                return list(await self._once(task, kind))
            except Crashed as reason:
                # One that died may have been dead before, so even one file has another try.
                if len(task.paths) == 1 and isinstance(reason, Hung):
                    return [FileFailure(task.paths[0], str(reason))]
            found: list[Result | FileFailure] = []
            for path in task.paths:
                found += await self._alone(task.only(path), kind)
            return found

    async def each(
        self, tasks: Iterable[Task], kind: type[Result]
    ) -> AsyncGenerator[list[Result | FileFailure]]:
        """Carry out many tasks, some at once, and give their results as they come.

        Not many more are begun than are taken, so that results do not pile up.
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
        """Have a process started by the time that one is needed; returns at once.

        Args:
            task: what it does first, so that it has loaded what such tasks need.
        """
        if not self.cold:
            return

        async def work() -> None:
            with contextlib.suppress(TaskFailed, OSError):  # whoever needs one meets it again
                await self.run(task, Parsed)

        self._warming = asyncio.create_task(work())

    async def close(self) -> None:
        """End all processes."""
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
            # Also where this task is cancelled: the process is in the middle of something.
            await asyncio.shield(process.end())
            raise
        if self._closed or process.memory > MAX_MEMORY_KIB:
            await process.end()
        else:
            self._free.append(process)
        return results
