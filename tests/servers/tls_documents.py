"""A TLS server on loopback that answers each path with exactly the bytes it was told."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trustme

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def reply(
    body: bytes, *headers: str, status: str = "200 OK", kind: str = "application/json"
) -> bytes:
    """The bytes of a response."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *headers, "Connection: close", "", ""]).encode() + body


def document(content: Any, *headers: str) -> bytes:
    """The bytes of a response with a JSON document."""
    return reply(json.dumps(content).encode(), *headers)


class TlsDocuments:
    """The server.

    Attributes:
        answers: what to say, by path; a function writes by itself.
        requests: the heads of the requests so far.
        name: the host that its certificate is for.
        port: where it listens.
        trusting: a TLS context that trusts its certificate and no other.
    """

    def __init__(self, name: str) -> None:
        authority = trustme.CA()
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name).configure_cert(self._tls)
        self.trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        authority.configure_trust(self.trusting)
        self.answers: dict[str, Answer] = {}
        self.requests: list[str] = []
        self.looked_up: list[tuple[str, int]] = []
        self.name = name
        self.port = 0

    @property
    def authority(self) -> str:
        """The host and port that clients are to name."""
        return f"{self.name}:{self.port}"

    def url(self, path: str) -> str:
        """The address of a path."""
        return f"https://{self.authority}{path}"

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Find every name on loopback."""
        self.looked_up.append((host, port))
        return ["127.0.0.1"]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[TlsDocuments]:
        """Listen."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.requests.append(head)
            answer = self.answers.get(head.split(" ")[1], reply(b"{}", status="404 Not Found"))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(writer)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
