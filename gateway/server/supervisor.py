"""Keeps several workers on one port: starts them, starts them again, and ends them in order.

It opens the port once; the workers inherit the socket and take connections from one queue. So a
worker that is busy takes fewer, and one that goes leaves its share to the others.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gateway.errors import ConfigError
from gateway.observability.logs import get_logger
from gateway.observability.workers import WorkerState, own_directory
from gateway.server.data_directory import local_socket
from gateway.server.drain import HANDSHAKE_SECONDS
from gateway.server.server import point_local_socket
from gateway.server.worker import Task

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.5, 30.0
"""Seconds until a worker that died is started again: at first, and at most."""
_STEADY_SECONDS = 60.0
"""Seconds after which a worker that dies has not failed again, but anew."""
_KILL_SECONDS = 30.0
"""Seconds beyond what its calls may take, after which a worker that should end is killed."""

log = get_logger(__name__)


class CannotStart(Exception):
    """A worker ended before it ever served, and has said why.

    Args:
        code: its exit code.
    """

    def __init__(self, code: int) -> None:
        super().__init__(f"exit code {code}")
        self.code = code


@dataclass(eq=False)
class _Kept:
    """One worker, over all its lives."""

    number: int
    state: WorkerState
    process: asyncio.subprocess.Process | None = None
    channel: asyncio.StreamWriter | None = None
    has_served: bool = False
    retiring: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, what: object) -> None:
        """Send it a line, if it is there."""
        if self.channel is not None and not self.channel.is_closing():
            with suppress(OSError):
                self.channel.write(json.dumps(what).encode() + b"\n")


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a supervisor asks and tells.

    Attributes:
        checked: raises ``ConfigError`` where workers could not start with the files as they are.
        serving: called with the port once the first worker serves.
        ready: called once all of them do.
    """

    checked: Callable[[], object]
    serving: Callable[[int], None]
    ready: Callable[[], None]


class Supervisor:
    """Several workers on one port.

    Args:
        command: what a worker is started with, but for its socket's descriptor at the end.
        tcp: the port's socket.
        data_dir: the data directory, which the caller holds.
        number: how many workers there are.
        patience: seconds that a worker may take to end at most.
        hooks: what is asked and told on the way.
    """

    def __init__(
        self,
        command: Sequence[str],
        tcp: socket.socket,
        data_dir: Path,
        number: int,
        patience: float,
        hooks: Hooks,
    ) -> None:
        self._command = (*command,)
        self._tcp = tcp
        self._port: int = tcp.getsockname()[1]
        self._data_dir = data_dir
        self._patience = patience + HANDSHAKE_SECONDS + _KILL_SECONDS
        self._hooks = hooks
        self._workers = [_Kept(each, _starting(each)) for each in range(1, number + 1)]
        self._stopping = asyncio.Event()
        self._restarting: asyncio.Task[None] | None = None
        self._order = ""

    async def run(self) -> None:
        """Keep the workers until a signal says to stop, and they have ended.

        Raises:
            CannotStart: a worker could not start, the first time; the others have ended.
        """
        self._follow_signals()
        tasks = [asyncio.create_task(self._keep(self._workers[0]))]
        try:
            await _first(tasks[0], self._until_serving(self._workers[0]))
            if self._workers[0].has_served:
                self._hooks.serving(self._port)
                tasks += [asyncio.create_task(self._keep(each)) for each in self._workers[1:]]
                telling = asyncio.create_task(self._tell_ready())
                await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
                telling.cancel()
        finally:
            if self._restarting is not None:
                self._restarting.cancel()
            if not self._stopping.is_set():
                self._stop("now")
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            point_local_socket(self._data_dir, None)
        for end in ends:
            if isinstance(end, BaseException):
                raise end

    async def _tell_ready(self) -> None:
        for each in self._workers:
            await self._until_serving(each)
        self._hooks.ready()

    async def _until_serving(self, worker: _Kept) -> None:
        while worker.state["state"] != "serving":
            worker.changed.clear()
            await worker.changed.wait()

    # Signals.

    def _follow_signals(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._stop, "drain")
        loop.add_signal_handler(signal.SIGINT, self._stop, "now")
        # Where a person's terminal is closed, they mean the end.
        if sys.stdin is not None and sys.stdin.isatty():
            loop.add_signal_handler(signal.SIGHUP, self._stop, "now")
        else:
            loop.add_signal_handler(signal.SIGHUP, self._restart)

    def _stop(self, order: str) -> None:
        """Tell all to end; told again, at once."""
        self._order = "now" if self._stopping.is_set() else order
        self._stopping.set()
        self._tcp.close()  # so that the port is closed once the last worker leaves it
        for each in self._workers:
            each.tell({"do": self._order})
            self._bound(each)

    def _restart(self) -> None:
        if self._stopping.is_set() or (self._restarting and not self._restarting.done()):
            log.warning("restart_not_begun", reason="the workers are stopping or restarting")
            return
        try:
            self._hooks.checked()
        except ConfigError as error:
            log.error("restart_refused", problems=[str(each) for each in error.problems])
            return
        self._restarting = asyncio.create_task(self._restart_in_turn())

    async def _restart_in_turn(self) -> None:
        for worker in self._workers:
            lives = worker.state["restarts"]
            if worker.state["state"] == "serving":
                worker.retiring = True
                self._change(worker, state="leaving")
                worker.tell({"do": "retire"})
                self._bound(worker)
            while worker.state["state"] != "serving":
                if worker.state["restarts"] > lives:
                    log.error("restart_halted", worker=worker.number, reason=worker.state["ended"])
                    return
                worker.changed.clear()
                await worker.changed.wait()
        log.info("restarted", workers=len(self._workers))

    # One worker.

    async def _keep(self, worker: _Kept) -> None:
        """Start a worker, and again whenever it dies."""
        pause = FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            began = time.monotonic()
            code, how = await self._end_of(worker)
            if self._stopping.is_set():
                break
            if worker.retiring:
                worker.retiring = False
                continue
            if not worker.has_served:
                self._change(worker, state="dead")
                raise CannotStart(code if code > 0 else 1)
            if time.monotonic() - began > _STEADY_SECONDS:
                pause = FIRST_PAUSE_SECONDS
            self._died(worker, how, pause)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)
        self._change(worker, state="dead", process=0)

    def _died(self, worker: _Kept, how: str, pause: float) -> None:
        log.error("worker_died", worker=worker.number, how=how, again_in_seconds=pause)
        restarts = worker.state["restarts"] + 1
        self._change(worker, state="dead", process=0, restarts=restarts, ended=how)
        worker.state["ended_at"] = time.time()
        self._tell_all()

    async def _end_of(self, worker: _Kept) -> tuple[int, str]:
        """Run a worker to its end: its exit code, and how it ended.

        A machine that has no room for a process now, and had for the first, may have it later.
        """
        try:
            code = await self._life(worker)
        except OSError as error:
            if not worker.has_served:
                raise
            return 1, f"it could not be started: {error}"
        return code, _how(code)

    async def _life(self, worker: _Kept) -> int:
        """Run a worker's process to its end: its exit code."""
        ours, theirs = socket.socketpair()
        others = any(each.state["state"] == "serving" for each in self._workers)
        with theirs, ExitStack() as unless_started:
            unless_started.enter_context(ours)
            worker.process = await asyncio.create_subprocess_exec(
                *self._command,
                str(theirs.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), self._tcp.fileno()),
                start_new_session=True,  # signals of a terminal are the supervisor's
            )
            unless_started.pop_all()
        ours.setblocking(False)
        reader, worker.channel = await asyncio.open_connection(sock=ours)
        task = Task(worker.number, str(self._data_dir), self._tcp.fileno(), alone=not others)
        worker.tell(asdict(task))
        self._change(worker, state="starting", process=worker.process.pid)
        if self._order:  # told to stop while it was started
            worker.tell({"do": self._order})
        with suppress(OSError):
            while await reader.readline():
                worker.has_served = True
                log.info("worker_serves", worker=worker.number, process=worker.process.pid)
                self._change(worker, state="serving")
        worker.channel.close()
        worker.channel = None
        self._bound(worker)
        return await worker.process.wait()

    def _bound(self, worker: _Kept) -> None:
        """Kill what should end and does not."""
        process = worker.process
        if process is None or process.returncode is not None:
            return

        def kill() -> None:
            if process.returncode is None:
                log.error("worker_killed", worker=worker.number, reason="it did not end in time")
                process.kill()

        asyncio.get_running_loop().call_later(self._patience, kill)

    def _change(self, worker: _Kept, **values: object) -> None:
        worker.state.update(values)  # type: ignore[typeddict-item]  # the keys are its own
        serving = [each.number for each in self._workers if each.state["state"] == "serving"]
        target = local_socket(own_directory(self._data_dir, serving[0])) if serving else None
        point_local_socket(self._data_dir, target)
        self._tell_all()
        worker.changed.set()

    def _tell_all(self) -> None:
        table = {"workers": [each.state for each in self._workers]}
        for each in self._workers:
            each.tell(table)


async def _first(task: asyncio.Task[None], other: object) -> None:
    """Wait for one of two."""
    beside = asyncio.ensure_future(other)  # type: ignore[call-overload]
    await asyncio.wait({task, beside}, return_when=asyncio.FIRST_COMPLETED)
    beside.cancel()


def _starting(number: int) -> WorkerState:
    return {
        "number": number,
        "process": 0,
        "state": "starting",
        "restarts": 0,
        "ended": "",
        "ended_at": 0.0,
    }


def _how(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"
