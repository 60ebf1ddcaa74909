"""Workers share what connects to them."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from gateway.server import acceptor as module
from gateway.server.acceptor import Acceptor

CLIENTS = 10


class Connected(asyncio.Protocol):
    """Counts the connections that are there."""

    count = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        type(self).count += 1
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        type(self).count -= 1


def counting() -> type[Connected]:
    """A protocol with a count of its own."""
    return type("Counting", (Connected,), {})


class Crowded(socket.socket):
    """A socket of a system that has no room for another connection, once."""

    refused = 0

    def accept(self) -> tuple[socket.socket, object]:
        if not self.refused:
            self.refused += 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


@pytest.fixture
def tcp() -> Iterator[socket.socket]:
    with Crowded() as tcp:
        tcp.refused = 1
        tcp.bind(("127.0.0.1", 0))
        tcp.listen(CLIENTS)
        tcp.setblocking(False)
        yield tcp


def connected(tcp: socket.socket, stack: ExitStack) -> None:
    for _ in range(CLIENTS):
        stack.enter_context(socket.create_connection(tcp.getsockname(), timeout=60))


def turned(loop: asyncio.AbstractEventLoop) -> None:
    loop.call_soon(loop.stop)
    loop.run_forever()


def test_a_burst_is_shared_by_loops_that_turn_equally_often(tcp: socket.socket) -> None:
    kinds = [counting() for _ in range(2)]
    with ExitStack() as stack:
        connected(tcp, stack)
        loops = [asyncio.new_event_loop() for _ in kinds]

        async def opened(kind: type[Connected]) -> Acceptor:
            return Acceptor(tcp, kind)

        acceptors = [
            loop.run_until_complete(opened(kind)) for loop, kind in zip(loops, kinds, strict=True)
        ]
        while sum(kind.count for kind in kinds) < CLIENTS:
            for loop in loops:
                turned(loop)
        assert all(kind.count >= CLIENTS / 2 - 1 for kind in kinds)
        for loop, each in zip(loops, acceptors, strict=True):
            each.close()
            loop.run_until_complete(each.wait_closed())
    for loop, kind in zip(loops, kinds, strict=True):
        while kind.count:
            turned(loop)
        loop.close()


async def test_what_comes_after_it_is_closed_is_left_to_others(tcp: socket.socket) -> None:
    kind = counting()
    acceptor = Acceptor(tcp, kind)
    acceptor.close()
    await acceptor.wait_closed()
    with ExitStack() as stack:
        connected(tcp, stack)
        await asyncio.sleep(0.05)
        assert kind.count == 0
        for _ in range(CLIENTS):
            tcp.accept()[0].close()


async def test_where_there_is_no_room_it_accepts_again_later(
    tcp: Crowded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.05)
    tcp.refused = 0
    kind = counting()
    acceptor = Acceptor(tcp, kind)
    with ExitStack() as stack:
        connected(tcp, stack)
        async with asyncio.timeout(60):
            while kind.count < CLIENTS:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        acceptor.close()
        await acceptor.wait_closed()
    async with asyncio.timeout(60):
        while kind.count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
