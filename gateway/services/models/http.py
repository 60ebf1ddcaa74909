"""The HTTP client to model providers: what is no API is told from one, and no answer is endless.

The words of a stream come some at a time (:mod:`gateway.services.models.joined_words`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from gateway.services.models.joined_words import JoinedWords

__all__ = ["NotAnApi", "TooLarge", "open_client"]

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""No model writes as much at once."""
CONNECT_TIMEOUT_SECONDS = 10.0
"""Seconds for a connection; the answer has its own time."""
_STREAM = "text/event-stream"
_API_TYPES = ("application/json", _STREAM)


class NotAnApi(Exception):
    """An address answers well, and with something else than an API does.

    Args:
        content_type: what it says that it answers with.
    """

    def __init__(self, content_type: str) -> None:
        super().__init__(f"the address answers {content_type}")
        self.content_type = content_type


class TooLarge(Exception):
    """An answer goes on beyond :data:`MAX_ANSWER_BYTES`."""


def open_client(timeout_s: float, connections: int) -> httpx2.AsyncClient:
    """A client for one provider.

    Args:
        timeout_s: seconds without a byte after which an answer has failed.
        connections: how many there may be.
    """
    return httpx2.AsyncClient(
        transport=_Bounded(
            httpx2.AsyncHTTPTransport(
                limits=httpx2.Limits(
                    max_connections=connections, max_keepalive_connections=connections
                )
            )
        ),
        timeout=httpx2.Timeout(timeout_s, connect=CONNECT_TIMEOUT_SECONDS),
        event_hooks={"response": [_refuse_pages]},
    )


async def _refuse_pages(response: httpx2.Response) -> None:
    kind = _kind(response)
    if response.is_success and kind not in _API_TYPES:
        raise NotAnApi(kind[:60])


def _kind(response: httpx2.Response) -> str:
    """What a response says that it is, without what follows that."""
    kind: str = response.headers.get("content-type", "nothing")
    return kind.partition(";")[0].strip().lower()


class _Bounded(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer, with a body that ends."""
        response = await self._inner.handle_async_request(request)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            stream = _BoundedStream(response.stream)
            response.stream = JoinedWords(stream) if _kind(response) == _STREAM else stream
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            size += len(piece)
            if size > MAX_ANSWER_BYTES:
                raise TooLarge(f"an answer of more than {MAX_ANSWER_BYTES} bytes")
            yield piece

    async def aclose(self) -> None:
        """Close the answer."""
        await self._inner.aclose()
