"""An MCP server that begins well, and then does harm: each tool another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

Harm = Callable[["HostileServer", asyncio.StreamWriter, Any], Awaitable[None]]

META = {"io.modelcontextprotocol/serverInfo": {"name": "hostile", "version": "1"}}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "hostile", "version": "1"},
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": META,
}
SAID = {"resultType": "complete", "content": [{"type": "text", "text": "fine"}]}
MIB = 1024 * 1024


class HostileServer:
    """The server, on loopback.

    Attributes:
        url: where it is.
        connections: how many were made to it.
        asked: the tools that were called.
        heads: the heads of the requests.
    """

    def __init__(self) -> None:
        self.url = ""
        self.connections = 0
        self.asked: list[str] = []
        self.heads: list[str] = []
        self.elsewhere = "http://169.254.169.254/latest/meta-data"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                self.heads.append(head)
                lines = head.lower().splitlines()
                size = next((int(x[15:]) for x in lines if x.startswith("content-length:")), 0)
                message = json.loads(await reader.readexactly(size) or b"{}")
                await self._answer(message, writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, message: Any, writer: asyncio.StreamWriter) -> None:
        if message.get("method") == "server/discover":
            return plain(writer, result(message, DISCOVERED))
        if message.get("method") != "tools/call":
            return plain(writer, b"", status="405 Method Not Allowed")
        name = message["params"]["name"]
        self.asked.append(name)
        return await HARMS[name](self, writer, message)


def result(message: Any, value: Any, **more: Any) -> bytes:
    """A JSON-RPC response."""
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": value} | more).encode()


def plain(
    writer: asyncio.StreamWriter,
    body: bytes,
    *more: str,
    status: str = "200 OK",
    kind: str = "application/json",
) -> None:
    """An answer with its length."""
    head = [f"HTTP/1.1 {status}", f"content-type: {kind}", f"content-length: {len(body)}", *more]
    writer.write("\r\n".join([*head, "", ""]).encode() + body)


def begin(writer: asyncio.StreamWriter, size: int) -> None:
    """The head of an answer of so many bytes."""
    kind = "content-type: application/json"
    writer.write(f"HTTP/1.1 200 OK\r\n{kind}\r\ncontent-length: {size}\r\n\r\n".encode())


def events(writer: asyncio.StreamWriter) -> None:
    """The head of a stream of events."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")


async def fine(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    plain(writer, result(message, SAID))


async def hang(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    await asyncio.Event().wait()


async def trickle(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    events(writer)
    while True:
        writer.write(b": still here\n\n")
        await writer.drain()
        await asyncio.sleep(0.01)


async def die(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"
    )
    await writer.drain()
    writer.transport.abort()


async def vanish(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    writer.transport.abort()


async def fail(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    plain(writer, b"secret-token-of-mine", status="500 Internal Server Error", kind="text/plain")


async def refuse(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    plain(writer, b"no", status="400 Bad Request", kind="text/plain")


async def page(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    plain(writer, b"<html>Please sign in</html>", kind="text/html")


async def junk(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    plain(writer, b'{"jsonrpc": ')


async def strange_id(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    plain(writer, result({"id": 424242}, SAID))


async def empty(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    plain(writer, b"[]")


async def huge(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    begin(writer, 200 * MIB)
    await _pour(writer, 200)


async def huge_event(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    events(writer)
    writer.write(b"data: ")
    await _pour(writer, 200)


async def _pour(writer: asyncio.StreamWriter, mebibytes: int) -> None:
    with suppress(ConnectionError):
        for _ in range(mebibytes):
            writer.write(b"x" * MIB)
            await writer.drain()


async def chatter(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    events(writer)
    note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}
    with suppress(ConnectionError):
        while True:
            writer.write(b"data: " + json.dumps(note).encode() + b"\n\n")
            await writer.drain()


async def away(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    location = f"location: {server.elsewhere}"
    plain(writer, b"", location, status="307 Temporary Redirect")


async def around(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    plain(writer, b"", "location: /mcp", status="307 Temporary Redirect")


async def packed(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    plain(writer, b"\x1f\x8b" + bytes(100), "content-encoding: gzip")


async def long_header(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    plain(writer, result(message, SAID), "x-long: " + "y" * 100_000)


async def challenge(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    bearer = 'www-authenticate: Bearer scope="a b", resource_metadata="https://example.org/meta"'
    plain(writer, b"", bearer, status="401 Unauthorized")


async def no_http(server: HostileServer, writer: asyncio.StreamWriter, message: Any) -> None:
    writer.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")


HARMS: dict[str, Harm] = {
    each.__name__: each
    for each in (
        *(fine, hang, trickle, die, vanish, fail, refuse, page, junk, strange_id, empty),
        *(huge, huge_event, chatter, away, around, packed, long_header, challenge, no_http),
    )
}


@asynccontextmanager
async def hostile_server() -> AsyncIterator[HostileServer]:
    """Run the server for as long as the block lasts."""
    hostile, tasks = HostileServer(), set[asyncio.Task[None]]()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(hostile.serve(reader, writer))
        tasks.add(task)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    hostile.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    try:
        yield hostile
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
