"""Takes connections from a socket on which other processes accept too.

An event loop's own server takes all that wait as soon as it wakes, so that of several workers one
gets a whole burst and keeps it. Here a worker takes one connection in each turn of its loop: the
others get theirs meanwhile, and one that is busy turns less often and takes fewer.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

from gateway.observability.logs import get_logger

PAUSE_SECONDS = 1.0
"""Seconds until it accepts again where the system has no room for another connection."""

log = get_logger(__name__)


class Acceptor:
    """Accepts, until it is closed; has what uvicorn asks of a server.

    Args:
        tcp: a socket that listens and does not block; closing the acceptor leaves it open.
        protocol: makes what a connection speaks.
    """

    def __init__(self, tcp: socket.socket, protocol: Callable[[], asyncio.Protocol]) -> None:
        self._tcp = tcp
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._beginning = set[asyncio.Task[object]]()
        self._is_closed = False
        self._listen()

    def close(self) -> None:
        """Accept no more; connections that are there go on."""
        if not self._is_closed:
            self._is_closed = True
            self._loop.remove_reader(self._tcp)

    async def wait_closed(self) -> None:
        """Wait until each connection that was accepted has its protocol."""
        await asyncio.gather(*self._beginning, return_exceptions=True)

    def _listen(self) -> None:
        if not self._is_closed:
            self._loop.add_reader(self._tcp, self._accept)

    def _accept(self) -> None:
        try:
            connection, _ = self._tcp.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # another worker was quicker, or who came is gone
        except OSError as error:
            log.error("connection_not_accepted", reason=error.strerror, again_in=PAUSE_SECONDS)
            self._loop.remove_reader(self._tcp)
            self._loop.call_later(PAUSE_SECONDS, self._listen)
            return
        connection.setblocking(False)
        task = self._loop.create_task(self._begin(connection))
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)

    async def _begin(self, connection: socket.socket) -> None:
        with suppress(OSError):  # who came is gone
            await self._loop.connect_accepted_socket(self._protocol, connection)
