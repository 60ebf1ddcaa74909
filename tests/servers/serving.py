"""Serves an ASGI application of the tests' own on loopback, in a thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


@contextmanager
def serving(app: Any, listener: socket.socket) -> Iterator[str]:
    """Answer at a socket that is bound, until left; gives the address ``http://127.0.0.1:PORT``."""
    config = uvicorn.Config(app, log_config=None, log_level="critical", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    listener.listen(128)  # whoever asks before the thread runs waits instead of being refused
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
    assert not thread.is_alive(), "The server does not stop."


def bound(port: int = 0) -> socket.socket:
    """A socket at a port of 127.0.0.1; 0 finds a free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", port))
    return listener
