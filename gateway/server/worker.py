"""A portal as one of several processes on a port, as its supervisor leads it.

Both speak over a pair of sockets, a JSON object on each line. The supervisor says what to do
(``drain``, ``retire``, ``now``) and how all workers are; the worker says when it serves. Where the
other end is gone, the supervisor is, and the worker drains.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.observability.workers import Workers, own_directory
from gateway.server.data_directory import local_socket, made
from gateway.services.signing_key import KEY_FILE

if TYPE_CHECKING:
    from gateway.open_portal import OpenPortal
    from gateway.server.drain import Drain

_READY_SECONDS = 60.0
"""Seconds that plugins have to open before a worker takes connections that others could take."""
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Task:
    """What a supervisor tells a new worker.

    Attributes:
        number: which worker it is, from 1.
        data_dir: the data directory of all.
        tcp: the file descriptor of the socket on which all of them accept.
        alone: whether nobody else serves: it then takes connections before it is ready.
    """

    number: int
    data_dir: str
    tcp: int
    alone: bool


class Worker:
    """This process, led over a socket.

    Args:
        descriptor: the socket's file descriptor, inherited; the first line is its :class:`Task`.

    Attributes:
        tcp: the socket on which all workers accept.
        data_dir: what is this process's own.
        shared_dir: the data directory of all.
        workers: what is known of all of them.
    """

    def __init__(self, descriptor: int) -> None:
        self._channel = socket.socket(fileno=descriptor)
        self._file = self._channel.makefile("rwb", buffering=0)
        self.task = Task(**json.loads(self._file.readline()))
        self.tcp = socket.socket(fileno=self.task.tcp)
        self.tcp.setblocking(False)
        self.shared_dir = Path(self.task.data_dir)
        self.data_dir = own_directory(self.shared_dir, self.task.number)
        self.workers = Workers(self.task.number, self._socket_of)
        self._drain: Drain | None = None
        self._order = ""
        self._listening: asyncio.Task[None] | None = None
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells the supervisor too
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _socket_of(self, number: int) -> Path:
        return local_socket(own_directory(self.shared_dir, number))

    def prepare(self) -> None:
        """Make its own directory, in which it finds the signing key of all."""
        made(self.data_dir)
        key = self.data_dir / KEY_FILE
        if not key.is_symlink():
            key.unlink(missing_ok=True)
            key.symlink_to(self.shared_dir.absolute() / KEY_FILE)

    async def before_listening(self, running: OpenPortal) -> None:
        """Wait until its plugins are open, where others answer meanwhile."""
        self._listening = asyncio.create_task(self._listen())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._ordered, "retire")
        running.board.notices(self._lonely)
        until = time.monotonic() + _READY_SECONDS
        while not (self.task.alone or self._order) and time.monotonic() < until:
            if (await running.board.report()).status != "starting":
                break
            await asyncio.sleep(_POLL_SECONDS)

    def follow(self, drain: Drain) -> None:
        """Stop as the supervisor says from now on."""
        self._drain = drain
        if self._order:
            self._ordered(self._order)

    def answering(self, port: int) -> None:
        """Say that it takes connections."""
        self._file.write(json.dumps({"serving": port}).encode() + b"\n")

    def _lonely(self) -> list[str]:
        gone = self._listening is not None and self._listening.done()
        return ["The supervisor of the workers is gone; this one ends."] if gone else []

    async def _listen(self) -> None:
        self._channel.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=self._channel)
        with suppress(OSError):
            while line := await reader.readline():
                said: dict[str, Any] = json.loads(line)
                self.workers.table = said.get("workers", self.workers.table)
                if order := said.get("do"):
                    self._ordered(order)
        writer.close()
        self._ordered("drain")

    def _ordered(self, order: str) -> None:
        self._order = order
        if self._drain is None:
            return
        acts: dict[str, Callable[[], None]] = {
            "drain": self._drain.begin,
            "retire": self._drain.retire,
            "now": self._drain.now,
        }
        acts[order]()
