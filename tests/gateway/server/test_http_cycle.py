"""Responses reach a client as uvicorn itself would write them, at real servers on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.server.connections import bounded_protocol
from gateway.server.http_cycle import MAX_JOINED_BYTES
from tests.servers.serving import bound

Ports = tuple[int, int]
_LONG = b"x" * (MAX_JOINED_BYTES + 1)


def _start(*headers: tuple[bytes, bytes], status: int = 200) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": headers}


def _body(body: bytes = b"", *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}


def _sized(size: int) -> dict[str, Any]:
    return _start((b"content-type", b"text/plain"), (b"content-length", b"%d" % size))


RESPONSES: Mapping[str, list[Any]] = {
    "sized": [_sized(2), _body(b"ok")],
    "empty": [_sized(0), _body()],
    "accepted": [_start((b"content-length", b"0"), status=202), _body()],
    "without-a-body": [_start(status=204), _body()],
    "in-parts": [_sized(4), _body(b"ok", more=True), _body(b"ok")],
    "in-parts-and-an-empty-one": [_sized(2), _body(b"ok", more=True), _body()],
    "long": [_sized(len(_LONG)), _body(_LONG)],
    "chunked": [_start(), _body(b"o", more=True), _body(b"k")],
    "an-end": [_start((b"content-length", b"2"), (b"connection", b"close")), _body(b"ok")],
    "too-short": [_sized(3), _body(b"ok")],
    "too-long": [_sized(1), _body(b"ok")],
    "no-header-value": [_start((b"content-length", b"2"), (b"a", b"b\r\nc: d")), _body(b"ok")],
    "no-header-name": [_start((b"content-length", b"2"), (b"a:", b"b")), _body(b"ok")],
    "a-body-first": [_body(b"ok")],
    "two-starts": [_sized(2), _sized(2)],
    "more-than-all": [_sized(2), _body(b"ok"), _body(b"ok")],
    "nothing": [],
    "a-head-alone": [_sized(2)],
}
BROKEN_OFF = frozenset({"too-short", "too-long", "two-starts", "a-head-alone"})
"""Where uvicorn ends the connection after the head, it is ended before it."""
REFUSED = frozenset({"no-header-value", "no-header-name"})
"""Where uvicorn ends the connection without a word, there is one."""


async def _app(scope: Any, receive: Any, send: Any) -> None:
    if scope["path"] == "/echo":
        message = await receive()
        size = (b"content-length", b"%d" % len(message["body"]))
        await send(_start(size))
        await send(_body(message["body"]))
        return
    for message in RESPONSES[scope["path"][1:]]:
        await send(message)


@asynccontextmanager
async def _served(protocol: Any) -> AsyncGenerator[int]:
    listener = bound()
    config = uvicorn.Config(
        _app, http=protocol, log_config=None, lifespan="off", ws="none", date_header=False
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve([listener]))
    while not server.started:  # noqa: ASYNC110  (uvicorn has no event for it)
        await asyncio.sleep(0.005)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def _both() -> AsyncGenerator[Ports]:
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(_served(bounded_protocol(60, 60, 100)))
        yield ours, await stack.enter_async_context(_served(HttpToolsProtocol))


async def _asked(port: int, *requests: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"".join(requests))
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    return answer


def _request(path: str, method: str = "GET", body: bytes = b"", *, end: bool = True) -> bytes:
    head = f"{method} /{path} HTTP/1.1\r\nHost: localhost\r\ncontent-length: {len(body)}\r\n"
    return (head + ("connection: close\r\n" if end else "") + "\r\n").encode() + body


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_every_kind_of_response_is_written_as_uvicorn_writes_it(method: str) -> None:
    async with _both() as (ours, theirs):
        for name in RESPONSES:
            written = await _asked(ours, _request(name, method))
            wanted = await _asked(theirs, _request(name, method))
            if name in REFUSED and method == "GET":
                assert written.startswith(b"HTTP/1.1 500"), name
            elif name in BROKEN_OFF and method == "GET":
                assert written == b"", name
            else:
                assert written == wanted, name


async def test_requests_that_are_sent_at_once_are_answered_in_their_order() -> None:
    async with _both() as ports:
        sent = [_request("echo", "POST", b"%d" % n, end=n == 9) for n in range(10)]
        ours, theirs = [await _asked(port, *sent) for port in ports]
        assert ours == theirs
        assert [part[-1:] for part in ours.split(b"HTTP/1.1 200 OK")[1:]] == [
            b"%d" % n for n in range(10)
        ]


async def test_older_clients_have_their_connection_ended() -> None:
    async with _both() as ports:
        ours, theirs = [await _asked(p, b"GET /sized HTTP/1.0\r\n\r\n") for p in ports]
        assert ours == theirs
        assert b"connection: close" in ours


async def test_paths_arrive_decoded() -> None:
    async with _both() as ports:
        ours, theirs = [await _asked(p, _request("%73ized?a=b")) for p in ports]
        assert ours == theirs
        assert ours.endswith(b"ok")
