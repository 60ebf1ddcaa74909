"""A stream that breaks off is opened again: not at once for ever, and not never."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plugins.upstreams.wire import TimedOut
from plugins.upstreams.wire.limits import Limits
from plugins.upstreams.wire.streamable import LEAST_S
from tests.plugins.upstreams.wire.peers import Heard, call, connected
from tests.servers.serving import serving

OPENED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "far", "version": "1"},
}
CHANGED = '{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}'


class Far:
    """A server of the older era whose streams end at once, each with an id of its own."""

    def __init__(self) -> None:
        self.url = ""
        self.opened = 0
        self.refuses = 0

    async def answer(self, request: Request) -> Response:
        if request.method == "GET":
            return self._stream()
        message = await request.json() if request.method == "POST" else {}
        if "id" not in message:
            return Response(status_code=202)
        if message["method"] == "tools/call":
            return _events("retry: 0\nid: 0\n\n")
        result = OPENED if message["method"] == "initialize" else {}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _stream(self) -> Response:
        self.opened += 1
        if self.opened <= self.refuses:
            return Response(status_code=429)
        return _events(f"retry: 0\nid: {self.opened}\ndata: {CHANGED}\n\n")


def _events(text: str) -> Response:
    return Response(text, media_type="text/event-stream")


@pytest.fixture
def far() -> Iterator[Far]:
    far = Far()
    app = Starlette(routes=[Route("/mcp", far.answer, methods=["GET", "POST", "DELETE"])])
    with socket.create_server(("127.0.0.1", 0)) as listener, serving(app, listener) as address:
        far.url = f"{address}/mcp"
        yield far


async def test_a_server_that_wants_to_be_asked_again_at_once_is_not(far: Far) -> None:
    async with connected(far.url, era="legacy", limits=Limits(total_s=1.5)) as connection:
        begun = time.monotonic()
        with pytest.raises(TimedOut):
            await connection.request(*call("never"))
        assert 1 <= far.opened <= (time.monotonic() - begun) / LEAST_S + 1


async def test_a_server_that_is_asked_too_often_is_listened_to_later(far: Far) -> None:
    far.refuses, heard = 1, Heard()
    async with connected(far.url, era="legacy", told=heard.tell):
        await heard.until_told("notifications/tools/list_changed")
    assert far.opened >= 2
