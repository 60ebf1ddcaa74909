"""Starts processes without copying the portal's own memory map.

uvloop forks, which copies the page tables of all that the portal holds: a tenth of a second with
700 MB, in which the loop does nothing else. ``subprocess`` uses ``vfork``, which takes a
millisecond.
::

    child = await spawn("git", "version", stdout=PIPE)
    text = await child.stdout.read()
    code = await child.wait()
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO, Any

PIPE, DEVNULL, STDOUT = subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT
CLOSING_S = 0.1
"""Seconds for which the pipes of a process that has ended are waited for."""


class _Output(asyncio.StreamReaderProtocol):
    """Reads a pipe to its end, and closes it there, which uvloop leaves to its protocol."""

    def __init__(self, reader: asyncio.StreamReader, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(reader, loop=loop)
        self.closed = asyncio.Event()

    def eof_received(self) -> bool:
        super().eof_received()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.closed.set()


class Child:
    """A process that was started; make one by :func:`spawn`.

    Attributes:
        pid: its number.
        stdin: takes its input, where that is a pipe.
        stdout: gives its output, where that is a pipe.
        stderr: likewise, for what it writes to standard error.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.pid = process.pid
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._process = process
        self._ended = asyncio.Event()
        self._pipes: list[_Output] = []
        self._attached: dict[IO[bytes], asyncio.BaseTransport] = {}

    @property
    def returncode(self) -> int | None:
        """Its exit status, negative for a signal's number; None while it runs."""
        return self._process.poll()

    async def wait(self) -> int:
        """Wait until it has ended; returns its exit status. What it wrote may still be unread."""
        await self._ended.wait()
        if self.stdin is not None:
            self.stdin.close()
        closing = [asyncio.ensure_future(each.closed.wait()) for each in self._pipes]
        if closing:
            # Whoever has inherited a pipe may keep it open for as long as they like.
            _, left = await asyncio.wait(closing, timeout=CLOSING_S)
            for each in left:
                each.cancel()
        return self._process.wait()

    async def give(self, data: bytes) -> None:
        """Write all of its input, and close that; whoever ended early has not read all of it.

        Where it writes while it reads, its output is to be read meanwhile: pipes hold little.
        """
        if self.stdin is None:
            return
        with contextlib.suppress(ConnectionError):  # its status and its errors say why
            self.stdin.write(data)
            await self.stdin.drain()
        self.stdin.close()

    async def communicate(self) -> tuple[bytes, bytes]:
        """Read what is left of its output and its errors, and wait until it has ended."""
        both = (each.read() if each else _nothing() for each in (self.stdout, self.stderr))
        output, errors = await asyncio.gather(*both)
        await self.wait()
        return output, errors

    def kill(self) -> None:
        """End it at once; nothing where it has ended."""
        self._process.kill()

    def terminate(self) -> None:
        """Ask it to end, by SIGTERM; nothing where it has ended."""
        self._process.terminate()

    def close(self) -> None:
        """Close its pipes; what it has written and nobody has read is lost."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                self._attached.get(pipe, pipe).close()

    async def connect(self) -> None:
        """Attach its pipes to the running loop, and have its end noticed."""
        process = self._process
        waiting = asyncio.get_running_loop()
        threading.Thread(target=self._await_end, args=(waiting,), daemon=True).start()
        if process.stdin is not None:
            self.stdin = await self._writer(process.stdin)
        if process.stdout is not None:
            self.stdout = await self._reader(process.stdout)
        if process.stderr is not None:
            self.stderr = await self._reader(process.stderr)

    async def _reader(self, pipe: IO[bytes]) -> asyncio.StreamReader:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(loop=loop)
        output = _Output(reader, loop)
        self._attached[pipe], _ = await loop.connect_read_pipe(lambda: output, pipe)
        self._pipes.append(output)
        return reader

    async def _writer(self, pipe: IO[bytes]) -> asyncio.StreamWriter:
        loop = asyncio.get_running_loop()
        # A StreamWriter waits by this until the pipe has room; asyncio's own processes do so.
        protocol: Any = asyncio.streams.FlowControlMixin
        transport, made = await loop.connect_write_pipe(lambda: protocol(loop=loop), pipe)
        self._attached[pipe] = transport
        return asyncio.StreamWriter(transport, made, None, loop)

    def _await_end(self, loop: asyncio.AbstractEventLoop) -> None:
        self._process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._ended.set)


async def spawn(
    *command: str,
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
    start_new_session: bool = False,
    pass_fds: Collection[int] = (),
) -> Child:
    """Start a process; the arguments are those of ``subprocess.Popen``.

    Raises:
        OSError: it cannot be started.
    """
    process = subprocess.Popen(  # noqa: S603, ASYNC220  (no shell reads it; it takes a millisecond)
        command,
        bufsize=0,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=env,
        cwd=cwd,
        start_new_session=start_new_session,
        pass_fds=tuple(pass_fds),
    )
    child = Child(process)
    connecting = asyncio.ensure_future(child.connect())
    try:
        # Nobody closes a pipe that is attached by half, so whoever gives up lets that end first.
        await asyncio.shield(connecting)
    except BaseException:
        process.kill()
        connecting.add_done_callback(lambda done: done.cancelled() or done.exception())
        connecting.add_done_callback(lambda _: child.close())
        raise
    return child


async def _nothing() -> bytes:
    return b""
