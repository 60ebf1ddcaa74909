"""Connections that send no headers, at a real server on loopback."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from gateway.server.connections import BoundedProtocol, allow_open_files, bounded_protocol
from tests.servers.serving import bound

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _app(scope: Any, receive: Any, send: Any) -> None:
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


class Server:
    """A server, and its clients."""

    def __init__(self, port: int, protocol: type[BoundedProtocol]) -> None:
        self._port = port
        self.protocol = protocol
        self._writers: list[asyncio.StreamWriter] = []

    async def connect(self, sent: bytes = b"") -> Connection:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers.append(writer)
        writer.write(sent)
        return reader, writer

    def close(self) -> None:
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def running(seconds: float, most: int = 100, idle: float = 60) -> AsyncGenerator[Server]:
    protocol = bounded_protocol(seconds, idle, most)
    listener = bound()
    config = uvicorn.Config(_app, http=protocol, log_config=None, lifespan="off", ws="none")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve([listener]))
    while not server.started:  # noqa: ASYNC110  (uvicorn has no event for it)
        await asyncio.sleep(0.005)
    clients = Server(listener.getsockname()[1], protocol)
    try:
        yield clients
    finally:
        clients.close()
        server.should_exit = True
        await task


async def _is_ended(connection: Connection) -> bool:
    async with asyncio.timeout(60):
        return await connection[0].read() == b""


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: loc", b"GET"])
async def test_a_connection_without_headers_ends_after_a_while(sent: bytes) -> None:
    async with running(0.05) as server:
        first, second = await server.connect(sent), await server.connect(sent)
        assert await _is_ended(first)
        assert await _is_ended(second)
        assert len(server.protocol.waiting) == 0


async def test_a_second_request_that_crawls_ends_too() -> None:
    async with running(5) as server:
        reader, writer = await server.connect(REQUEST)
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET / HT")
        assert await _is_ended((reader, writer))


async def test_a_connection_with_headers_stays() -> None:
    async with running(60) as server:
        reader, writer = await server.connect(REQUEST)
        await reader.readuntil(b"ok")
        assert len(server.protocol.waiting) == 0  # nobody ends it for its headers any more
        writer.write(REQUEST)
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")


async def test_a_connection_that_is_idle_after_an_answer_ends_after_a_while() -> None:
    async with running(60, idle=0.05) as server:
        connection = await server.connect(REQUEST)
        assert (await connection[0].readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        assert await _is_ended(connection)
        assert len(server.protocol.idle) == 0


async def test_the_oldest_that_waits_ends_for_one_more() -> None:
    async with running(60, most=2) as server:
        oldest = await server.connect()
        while len(server.protocol.waiting) < 1:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        await server.connect()
        reader, _ = await server.connect(REQUEST)  # honest clients are hardly ever among them
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        assert await _is_ended(oldest)
        assert len(server.protocol.waiting) == 1


async def test_who_leaves_waits_no_more() -> None:
    async with running(60) as server:
        _, writer = await server.connect(b"GET")
        while len(server.protocol.waiting) < 1:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        writer.close()
        async with asyncio.timeout(60):
            while server.protocol.waiting:  # noqa: ASYNC110
                await asyncio.sleep(0.005)


def test_the_soft_limit_of_open_files_is_raised_and_never_lowered() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        allow_open_files(300)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 300
        allow_open_files(100)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 300
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
