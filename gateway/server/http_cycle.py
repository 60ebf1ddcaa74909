"""uvicorn's cycle of a request and its response, with one write for a response that is whole.

uvicorn writes the head of a response and its body one after the other. Each is a system call, and
wakes the client: for a small call that is a quarter of the time that the server works.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from uvicorn.protocols.http.httptools_impl import (
    HEADER_RE,
    HEADER_VALUE_RE,
    STATUS_LINE,
    RequestResponseCycle,
)

MAX_JOINED_BYTES = 64 * 1024
"""Bytes of a body that is copied behind its head; a longer one is written by itself."""
_BY_UVICORN = frozenset({b"connection", b"transfer-encoding"})
"""Headers that change how a response is written, or what follows it."""


class HttpCycle(RequestResponseCycle):
    """One request and its response.

    The head of a response whose length is known waits for the body, as ASGI lets a server do.
    Every other response is written as uvicorn writes it.
    """

    _head = b""

    async def send(self, message: Any) -> None:
        """Take one message of the response.

        Raises:
            RuntimeError: it is not the next one, or has a header that HTTP does not allow.
        """
        kind = message["type"]
        if self._head and kind == "http.response.body":
            await self._send_first(message)
        elif self.response_started or kind != "http.response.start" or not self._holds(message):
            await super().send(message)

    def _holds(self, message: Any) -> bool:
        """Keep the head, but for its end, until the body is there; False where uvicorn sends it."""
        lines, size = [STATUS_LINE[message["status"]]], -1
        headers = [*self.default_headers, *message.get("headers", ())]
        for name, value in headers:
            if name in _BY_UVICORN:
                return False
            if name == b"content-length":
                size = int(value)
            lines += (name, b": ", value, b"\r\n")
        if size < 0 or self.scope["method"] == "HEAD":
            return False
        _check(headers)
        self.expected_content_length, self.chunked_encoding = size, False
        self._head, self.response_started = b"".join(lines), True
        return True

    async def _send_first(self, message: Any) -> None:
        """Send the head, and with it the body where that is all of it."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        head = self._head + (b"\r\n" if self.keep_alive else b"connection: close\r\n\r\n")
        self._head = b""
        body = message.get("body", b"")
        if self.disconnected:
            return
        if message.get("more_body") or len(body) > MAX_JOINED_BYTES:
            self.transport.write(head)
            await super().send(message)
        elif len(body) != self.expected_content_length:
            raise RuntimeError("Response content is not as long as its Content-Length")
        else:
            self.transport.write(head + body)
            self._complete()

    def _complete(self) -> None:
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()


def _check(headers: list[tuple[bytes, bytes]]) -> None:
    names, values = zip(*headers, strict=True)
    if not _are_names(names) or HEADER_VALUE_RE.search(b" ".join(values)):
        raise RuntimeError("Invalid HTTP header.")


@lru_cache(maxsize=256)
def _are_names(names: tuple[bytes, ...]) -> bool:
    return not any(HEADER_RE.search(name) for name in names)
