"""Stdio: a child process, a message a line."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import perf_counter

from gateway.toolkit import child_process
from gateway.toolkit.background import cancel
from plugins.upstreams.wire.calls import Calls
from plugins.upstreams.wire.connection import Child, TransportName
from plugins.upstreams.wire.duplex import Duplex
from plugins.upstreams.wire.errors import (
    CLOSED,
    ChildEnded,
    ConnectionLost,
    NotMcp,
    Unreachable,
    WireError,
)
from plugins.upstreams.wire.limits import Limits
from plugins.upstreams.wire.messages import decode
from plugins.upstreams.wire.share import Share

HARMLESS = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Variables of the portal's own that a child gets; the others may hold secrets."""
MAX_SAID = 4096
"""Characters of a line of a child's stderr that are passed on."""
MAX_STRAY_LINES = 1000
"""Lines on a child's stdout that are no messages, before the first one that is."""
MAX_STRAY_S = 30.0
"""Seconds from the first of them to the first message."""
_NO_MCP = " What it wrote to its standard output is no MCP."
_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_CHUNK = 64 * 1024


class Lines:
    """Makes lines of bytes.

    Args:
        max_bytes: bytes of a line; a longer one is cut, and its rest thrown away.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._rest = bytearray()
        self._is_cut = False

    def feed(self, chunk: bytes) -> Iterator[tuple[bytes, bool]]:
        """The lines that a chunk completes, and of each whether it was cut."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._keep(piece)
            yield bytes(self._rest), self._is_cut
            self._rest, self._is_cut = bytearray(), False
        self._keep(rest)

    def _keep(self, piece: bytes) -> None:
        room = self._max_bytes - len(self._rest)
        self._is_cut = self._is_cut or len(piece) > room
        self._rest += piece[: max(room, 0)]


class Stdio(Duplex):
    """The transport to a child.

    Args:
        child: what to run.
        limits: of time and size.
    """

    name: TransportName = "stdio"

    def __init__(self, child: Child, limits: Limits) -> None:
        super().__init__(limits)
        self._child = child
        self._process: child_process.Child | None = None
        self._portal: asyncio.StreamWriter | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._stray_lines = 0
        self._has_spoken = False

    async def attach(self, calls: Calls) -> None:
        """Start the child, under a supervisor of its own.

        Raises:
            Unreachable: there is no such directory, or no process to be had.
        """
        self.calls = calls
        ours, theirs = socket.socketpair()
        supervise = (sys.executable, "-I", "-S", str(_SUPERVISOR), str(theirs.fileno()))
        kept = {name: os.environ[name] for name in HARMLESS if name in os.environ}
        try:
            self._process = await child_process.spawn(
                *supervise,
                str(self.limits.closing_s),
                *self._child.command,
                stdin=child_process.PIPE,
                stdout=child_process.PIPE,
                stderr=child_process.PIPE,
                cwd=self._child.cwd,
                env={**kept, **self._child.env},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            ours.close()
            reason = getattr(error, "strerror", None) or str(error)
            raise Unreachable(f"The command cannot be started: {reason.lower()}.") from error
        except asyncio.CancelledError:
            ours.close()
            raise
        finally:
            theirs.close()
        told, self._portal = await asyncio.open_connection(sock=ours)
        heard = asyncio.create_task(self._hear_output(self._process))
        said = asyncio.create_task(self._hear_errors(self._process))
        watched = asyncio.create_task(self._watch(told, [heard, said]))
        self._tasks = [heard, said, watched]

    async def _hear_output(self, process: child_process.Child) -> None:
        assert process.stdout is not None  # noqa: S101  (a pipe was asked for)
        lines = Lines(self.limits.message_bytes)
        while chunk := await process.stdout.read(_CHUNK):
            for line, is_cut in lines.feed(chunk):
                if is_cut:
                    self.heard_too_much(line)
                elif line.strip():
                    await self._hear_line(line)
                else:
                    await self._is_stray(line, perf_counter())

    async def _hear_line(self, line: bytes) -> None:
        begun = perf_counter()
        try:
            message = decode(line)
        except NotMcp:
            await self._is_stray(line, begun)
            return
        self._has_spoken = True
        await self.heard(message)

    async def _is_stray(self, line: bytes, begun: float) -> None:
        """A line is no message; a child of which none is, speaks no MCP."""
        if line:
            self.calls.oddities["line that is no message"] += 1
            self._say(line)
        self._stray_lines += 1
        if self._stray_lines == 1:
            asyncio.get_running_loop().call_later(MAX_STRAY_S, self._judge_strays)
        if self._stray_lines > MAX_STRAY_LINES:
            self._judge_strays()
        await self.share.rest(begun)

    def _judge_strays(self) -> None:
        if not self._has_spoken:
            self.lost(NotMcp("The command writes what is no MCP to its standard output."))

    async def _hear_errors(self, process: child_process.Child) -> None:
        assert process.stderr is not None  # noqa: S101  (a pipe was asked for)
        lines, share = Lines(MAX_SAID), Share()
        while chunk := await process.stderr.read(_CHUNK):
            for line, _ in lines.feed(chunk):
                begun = perf_counter()
                self._say(line)
                await share.rest(begun)

    def _say(self, line: bytes) -> None:
        if text := line[:MAX_SAID].decode(errors="replace").rstrip():
            self._child.said(text)

    async def _watch(self, told: asyncio.StreamReader, reading: list[asyncio.Task[None]]) -> None:
        """Wait for the child's end, and for what it had still written."""
        how = (await told.readline()).decode(errors="replace").strip()
        await asyncio.wait(reading, timeout=self.limits.closing_s)
        is_other = self._stray_lines > 0 and not self._has_spoken
        self.lost(_reason(how, _NO_MCP if is_other else ""))

    async def write(self, data: bytes) -> None:
        """Write one line; waits while the child does not read."""
        assert self._process is not None  # noqa: S101  (attached)
        assert self._process.stdin is not None  # noqa: S101  (a pipe was asked for)
        try:
            self._process.stdin.write(data + b"\n")
            await self._process.stdin.drain()
        except (OSError, RuntimeError):
            # Its end is known in a moment, and why.
            raise await self.ended() from None

    async def close(self) -> None:
        """End the child: its stdin closes; then SIGTERM, then SIGKILL, to all that it started."""
        if self._process is None or self._portal is None:
            return
        try:
            await self._end(self._process, self._portal)
        finally:
            self._portal.close()  # which ends the child, should this be cut off
        self.lost(ConnectionLost(CLOSED))

    async def _end(self, process: child_process.Child, portal: asyncio.StreamWriter) -> None:
        grace_s = self.limits.closing_s
        if process.stdin is not None:
            process.stdin.close()
        if not await _ends(process, grace_s):
            with suppress(OSError):
                portal.write_eof()
            if not await _ends(process, 2 * grace_s + 1):
                process.kill()  # the kernel takes the child along
                await process.wait()
        await asyncio.wait(self._tasks, timeout=grace_s)
        with suppress(ConnectionLost, Unreachable):
            await cancel(*self._tasks)
        await _read_out(process, grace_s)


async def _read_out(process: child_process.Child, seconds: float) -> None:
    """Read what a program that has ended left in its pipes: they stay open until their end."""
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout(seconds):
            for pipe in (process.stdout, process.stderr):
                while pipe is not None and await pipe.read(_CHUNK):
                    pass


async def _ends(process: child_process.Child, seconds: float) -> bool:
    try:
        await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        return False
    return True


def _reason(told: str, more: str) -> WireError:
    """What the supervisor's line means; ``more`` is what else is to be said."""
    how, _, what = told.partition(" ")
    if how == "error":
        return Unreachable(f"The command cannot be started: {what.lower()}.")
    if how == "exit":
        return ChildEnded(f"The child ended with status {what}.{more}", code=int(what))
    if how == "signal":
        number = int(what)
        return ChildEnded(f"The child was ended by {_name_of(number)}.{more}", signal=number)
    return ChildEnded("The child's supervisor was ended.")


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has none
        return f"the signal {number}"
