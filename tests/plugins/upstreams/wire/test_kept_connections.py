"""A kept connection that its server has closed is seen to be closed before it is used."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.plugins.upstreams.wire.peers import call, connected


@contextmanager
def closing() -> Iterator[tuple[str, Callable[[], bool]]]:
    """A server that keeps its connections, and closes one once it has answered a request on it.

    Gives its URL, and what waits without the loop until the last one is closed.
    """
    closed = threading.Semaphore(0)

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                head, _, body = connection.recv(65536).partition(b"\r\n\r\n")
                while len(body) < int(re.findall(rb"(?i)content-length: (\d+)", head)[0]):
                    body += connection.recv(65536)
                asked = json.loads(body)
                result = {"resultType": "complete", "capabilities": {}, "serverInfo": {}}
                result |= {"supportedVersions": ["2026-07-28"], "content": []}
                answer = json.dumps(
                    {"jsonrpc": "2.0", "id": asked["id"], "result": result}
                ).encode()
                kind = b"content-type: application/json\r\n"
                size = b"content-length: %d\r\n\r\n" % len(answer)
                connection.sendall(b"HTTP/1.1 200 OK\r\n" + kind + size + answer)
                connection.close()
                closed.release()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", closed.acquire
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


async def test_a_kept_connection_that_the_server_has_closed_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("plugins.upstreams.wire.http.LOOKED_AT_S", 0.0)
    with closing() as (url, until_closed):
        async with connected(url, era="modern") as connection:
            for _ in range(20):
                until_closed()  # while this process is busy with something else
                await connection.request(*call("add"))
