"""Clients that follow what happens in memory, while others write.

``python -m benchmarks.stream_client`` reads on standard input whom to follow, and prints what
:func:`run` returns. It says ``following`` once all clients do, and ends when each has heard all.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter

PATIENCE = 120.0
"""Seconds after which it is given up."""
_EVENT = b'"type":"updated"'
_READY = "following"


class Followers:
    """So many clients in a process of their own.

    Args:
        process: the process.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def heard(self) -> float:
        """Wait until each client has heard all; gives the events that all heard in a second.

        Raises:
            RuntimeError: they did not hear all in time, or were sent away.
        """
        said, errors = self._process.communicate(timeout=PATIENCE + 10)
        if self._process.returncode:
            raise RuntimeError(f"the followers failed: {errors.strip()[-2000:]}")
        rate: float = json.loads(said)
        return rate


@contextmanager
def following(port: int, token: str, path: str, clients: int, events: int) -> Generator[Followers]:
    """Follow a stream while the block lasts.

    Args:
        port: where the server listens on 127.0.0.1.
        token: a bearer token to send along.
        path: the stream's path, with its query.
        clients: how many follow.
        events: how many updates each of them is to hear.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.stream_client"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the followers have no pipes")
        process.stdin.write(json.dumps([port, token, path, clients, events]) + "\n")
        process.stdin.flush()
        if process.stdout.readline().strip() != _READY:
            raise RuntimeError(f"the followers failed: {process.communicate()[1][-2000:]}")
        yield Followers(process)
    finally:
        process.kill()
        process.wait()


async def run(port: int, token: str, path: str, clients: int, events: int) -> float:
    """Follow until each client has heard so many updates.

    Returns:
        The events that all clients heard together in a second, from the first to the last.
    """
    lines = [f"GET {path} HTTP/1.1", f"host: 127.0.0.1:{port}", f"authorization: Bearer {token}"]
    request = "\r\n".join([*lines, "accept: text/event-stream", "", ""]).encode()
    readers = [await _opened(port, request) for _ in range(clients)]
    print(_READY, flush=True)
    spans = await asyncio.wait_for(
        asyncio.gather(*(_heard(reader, events) for reader in readers)), PATIENCE
    )
    seconds = max(last for _, last in spans) - min(first for first, _ in spans)
    return clients * events / seconds


async def _opened(port: int, request: bytes) -> asyncio.StreamReader:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise ConnectionError(f"no stream: {head!r}")
    _writers.append(writer)
    return reader


_writers: list[asyncio.StreamWriter] = []
"""Kept, as a connection is closed once nothing refers to it."""


async def _heard(reader: asyncio.StreamReader, events: int) -> tuple[float, float]:
    """When the first and the last of so many updates came."""
    first = last = 0.0
    rest, heard = b"", 0
    while heard < events:
        data = await reader.read(1 << 16)
        if not data:
            raise ConnectionError(f"the stream ended after {heard} of {events} updates")
        last = perf_counter()
        rest += data
        heard += rest.count(_EVENT)
        first = first or (last if heard else 0.0)
        # What is left may be the beginning of the next one's mark.
        _, _, rest = rest.rpartition(_EVENT)
        rest = rest[1 - len(_EVENT) :]
    return first, last


def main() -> None:
    """Follow what standard input names."""
    import uvloop

    print(json.dumps(uvloop.run(run(*json.loads(sys.stdin.readline())))))


if __name__ == "__main__":
    main()
