"""One process of a plugin as the portal holds it, and the calls that run in it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import pickle
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from gateway.contract import Change, Host, ToolFailed
from gateway.isolation.frames import HEAD_BYTES, framed, length, read
from gateway.isolation.process_log import follow_output
from gateway.isolation.remote_call import RemoteCall, context_of
from gateway.isolation.setup import Setup
from gateway.observability.logs import get_logger
from gateway.toolkit.background import cancel
from gateway.toolkit.child_process import PIPE, Child, spawn

CLOSE_SECONDS = 5.0
"""Seconds that a plugin has to close; then its process is ended."""
MAX_LINKS = 1000
"""Links that clients were asked to open, of which the process may say that they are done."""

_NONSENSE = (ValueError, TypeError, LookupError, AttributeError, msgspec.MsgspecError)
"""What reading a message raises that no process of ours would send."""

log = get_logger(__name__)


class Refused(Exception):
    """A plugin cannot run in a process of its own; the message says why."""


class PluginProcess:
    """A process, from its start to its end.

    Args:
        setup: what it is started with.
        host: the plugin's share of the portal.

    Attributes:
        plugin: whose process it is.
        ended: set once the process is gone.
        reason: how it ended.
        reoffered: called with what it offers after each ``reoffer``.
    """

    def __init__(self, setup: Setup, host: Host) -> None:
        self._setup = setup
        self._host = host
        self.plugin = host.plugin
        self._numbers = itertools.count(1)
        self._calls: dict[int, RemoteCall] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._process: Child | None = None
        self._opening: asyncio.Future[Mapping[str, Any]] = (
            asyncio.get_running_loop().create_future()
        )
        self._reading: asyncio.Task[None] | None = None
        self.ended = asyncio.Event()
        self.reason = ""
        self.reoffered: Callable[[Mapping[str, Any]], None] = lambda told: None
        self._tools: tuple[str, ...] = ()
        self._own: Mapping[str, Callable[..., None]] = {
            "opened": self._opened,
            "refused": self._refused,
            "not_opened": self._not_opened,
            "reoffered": self._reoffered,
            "changed": self._changed,
            "names": self._asked_names,
            "link_done": self._link_done,
        }
        self._links: OrderedDict[str, Callable[[], None]] = OrderedDict()

    async def opened(self) -> Mapping[str, Any]:
        """Start the process, and wait until the plugin is open there.

        Returns:
            What it offers (``description.described``).

        Raises:
            Refused: the plugin cannot run in a process of its own.
            RuntimeError: it could not be opened, or the process has ended.
        """
        paths = [path for path in sys.path if path]
        self._process = await spawn(
            *(sys.executable, "-m", "gateway.isolation.child"),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # a signal from the terminal is the portal's to hand on
        )
        self._reading = asyncio.create_task(self._read(self._process))
        self._write(pickle.dumps(self._setup))
        return await asyncio.shield(self._opening)

    async def call(self, what: tuple[str, ...], *args: Any) -> Any:
        """Run a function of the plugin, for the call that is running.

        Args:
            what: names the function (``functions.function``).
            args: what it is given.

        Raises:
            ToolFailed: what it raises; or the process has ended.
        """
        return await self._run(RemoteCall(self._host, args), "call", what, args)

    async def ping(self) -> None:
        """Return once the process has taken a turn; raises as :meth:`call`."""
        await self._run(RemoteCall(self._host, ()), "ping")

    async def _run(self, call: RemoteCall, kind: str, *held: Any) -> Any:
        if self.ended.is_set():
            raise ended(self.plugin, self.reason)
        number = next(self._numbers)
        call.answer = lambda *answer: self._send("told", *answer)
        call.page = lambda places: self._send("page", number, places)
        call.linked = self._linked
        self._calls[number] = call
        try:
            context = (context_of(self._host, self._tools),) if held else ()
            self._send(kind, number, *held, *context)
            return await call.result(lambda: self._calls.pop(number, None))
        except asyncio.CancelledError:
            self._send("cancel", number)
            self._calls.pop(number, None)
            raise

    async def close(self) -> None:
        """Have the plugin closed, and end the process and all that it has started."""
        if self._process is None or self._reading is None:
            return
        self._send("close")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.ended.wait()
        self.kill()
        await asyncio.wait({self._reading})
        await cancel(*self._tasks)

    def kill(self) -> None:
        """End the process, and all that it has started, at once."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _send(self, *message: Any) -> None:
        self._write(pickle.dumps(message))

    def _write(self, content: bytes) -> None:
        pipe = self._process.stdin if self._process else None
        if pipe is not None and not pipe.is_closing():
            pipe.write(framed(content))

    async def _read(self, process: Child) -> None:
        """Take what the process sends until it ends; it is gone and forgotten then."""
        output, errors = process.stdout, process.stderr
        if output is None or errors is None:
            raise TypeError("the process has no pipes")
        following = asyncio.create_task(follow_output(errors, self._host.log))
        try:
            while True:
                head = await output.readexactly(HEAD_BYTES)
                self._take(*read(await output.readexactly(length(head))))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except _NONSENSE as error:
            log.error("plugin_process_not_understood", plugin=self.plugin, exc_info=error)
        finally:
            self.kill()
            code = await process.wait()
            await following
            self._end(_how(code))

    def _end(self, reason: str) -> None:
        self.reason = reason
        self.ended.set()
        for call in list(self._calls.values()):
            call.fail(ended(self.plugin, reason))
        self._calls.clear()
        self._fail(RuntimeError(f"its process has {reason}"))

    def _take(self, kind: str, *held: Any) -> None:
        """Take a message of the process: of its own, or about a call."""
        if (own := self._own.get(kind)) is not None:
            own(*held)
        elif (running := self._calls.get(held[0])) is not None:
            running.take(kind, *held[1:])

    def _opened(self, told: Mapping[str, Any]) -> None:
        self._noted(told)
        self._opening.set_result(told)

    def _not_opened(self, reason: str) -> None:
        self._fail(RuntimeError(reason))

    def _refused(self, reason: str) -> None:
        self._fail(Refused(reason))

    def _fail(self, error: Exception) -> None:
        if not self._opening.done():
            self._opening.set_exception(error)
            self._opening.exception()  # it may be that nobody waits for it any more

    def _reoffered(self, told: Mapping[str, Any]) -> None:
        self._noted(told)
        self.reoffered(told)

    def _changed(self, kind: Any, uri: str | None) -> None:
        self._host.changed(Change(self.plugin, kind, uri))

    def _linked(self, question: str, done: Callable[[], None]) -> None:
        self._links[question] = done
        if len(self._links) > MAX_LINKS:
            self._links.popitem(last=False)

    def _link_done(self, question: str) -> None:
        self._links.pop(question, lambda: None)()

    def _asked_names(self, _call: int, number: int, ids: list[str]) -> None:
        task = asyncio.create_task(self._names(number, ids))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _noted(self, told: Mapping[str, Any]) -> None:
        self._tools = tuple(each["name"] for each in told["tools"])

    async def _names(self, number: int, ids: list[str]) -> None:
        try:
            self._send("told", number, dict(await self._host.people.names(ids)), None)
        except Exception as error:
            log.warning("plugin_process_question_failed", exc_info=error)
            self._send("told", number, None, ["unavailable", "Names are not known now.", {}, None])


def ended(plugin: str, reason: str) -> ToolFailed:
    """What the caller of a plugin reads whose process has ended."""
    return ToolFailed(
        "unavailable",
        f"The process of {plugin} has {reason}, and is started again. Where this was to change "
        "something, look first whether it has; then try again.",
        {"plugin": plugin},
    )


def _how(code: int) -> str:
    if code >= 0:
        return f"ended with the exit code {code}"
    try:
        return f"been ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"been ended by the signal {-code}"
