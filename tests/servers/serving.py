"""Serves an ASGI application of the tests' own on loopback, in a thread."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


class _Server(uvicorn.Server):
    """Ends as soon as it shall; uvicorn's own looks ten times a second, and twice."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._runs = threading.Event()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self._runs.set()
        await super().serve(sockets)

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._end.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        state = self.server_state
        for connection in list(state.connections):
            connection.shutdown()
        while state.connections or state.tasks:  # noqa: ASYNC110  (uvicorn has no event for it)
            await asyncio.sleep(0.005)
        await self.lifespan.shutdown()

    def end(self) -> None:
        """Stop; from another thread."""
        # Not by `should_exit`: a server that is still starting would leave without its shutdown.
        self._runs.wait()
        self._loop.call_soon_threadsafe(self._end.set)


@contextmanager
def serving(app: Any, listener: socket.socket, *, lifespan: bool = False) -> Iterator[str]:
    """Answer at a socket that is bound, until left; gives the address ``http://127.0.0.1:PORT``."""
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        lifespan="on" if lifespan else "off",
        ws="none",
        timeout_keep_alive=60,  # what an idle connection comes to has tests of its own
    )
    server = _Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    listener.listen(128)  # whoever asks before the thread runs waits instead of being refused
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.end()
        thread.join(10)
        listener.close()
    assert not thread.is_alive(), "The server does not stop."


def bound(port: int = 0) -> socket.socket:
    """A socket at a port of 127.0.0.1; 0 finds a free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if port:  # one that was there before leaves connections behind that wait for their end
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    return listener
