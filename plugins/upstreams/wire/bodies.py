"""What an HTTP response holds: one body, or a stream of events, each within its limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from time import perf_counter
from typing import TYPE_CHECKING

from gateway.toolkit.time_slices import TURN_SECONDS
from plugins.upstreams.wire.errors import ConnectionLost, TooLarge
from plugins.upstreams.wire.events import Event, EventReader
from plugins.upstreams.wire.limits import Limits
from plugins.upstreams.wire.messages import Message, decode

if TYPE_CHECKING:
    import aiohttp

_PIECE_BYTES = 16 * 1024
"""Bytes of a stream that are read at once: as many empty lines are a millisecond's work or so."""


async def body_of(response: aiohttp.ClientResponse, max_bytes: int) -> bytes | bytearray:
    """The whole body.

    Raises:
        TooLarge: it is.
        ConnectionLost: it ends early.
    """
    if (response.content_length or 0) > max_bytes:
        raise _too_large(max_bytes)
    first = await _read(response)
    if response.content.at_eof() and len(first) <= max_bytes:
        return first
    body = bytearray(first)
    while len(body) <= max_bytes:
        if not (chunk := await _read(response)):
            return body
        body += chunk
    raise _too_large(max_bytes)


async def messages_of(
    response: aiohttp.ClientResponse, reader: EventReader, limits: Limits | None = None
) -> AsyncGenerator[Message]:
    """The messages in a stream of events.

    Args:
        response: the stream.
        reader: makes events of it, and remembers the last one's id.
        limits: of a reply; None for a stream that stays open.

    Raises:
        TooLarge: a limit is passed.
        ConnectionLost: the stream broke off.
        NotMcp: an event holds no message.
    """
    count = 0
    async with aclosing(events_of(response, reader, limits)) as events:
        async for event in events:
            if event.kind != "message" or not event.data:
                continue  # such as the first event, which only has an id
            count += 1
            if limits is not None and count > limits.reply_messages:
                raise TooLarge(f"More than {limits.reply_messages} messages in one reply.")
            yield decode(event.data)


async def events_of(
    response: aiohttp.ClientResponse, reader: EventReader, limits: Limits | None = None
) -> AsyncGenerator[Event]:
    """The events of a stream; see :func:`messages_of`."""
    size = 0
    while chunk := await _read(response):
        size += len(chunk)
        if limits is not None and size > limits.reply_bytes:
            raise _too_large(limits.reply_bytes)
        for start in range(0, len(chunk), _PIECE_BYTES):
            begun = perf_counter()
            events = reader.feed(chunk[start : start + _PIECE_BYTES])
            if perf_counter() - begun >= TURN_SECONDS:
                await asyncio.sleep(0)
            for event in events:
                yield event


async def _read(response: aiohttp.ClientResponse) -> bytes:
    import aiohttp

    try:
        return await response.content.readany()
    except (aiohttp.ClientError, OSError) as error:
        raise ConnectionLost("The server broke off in the middle of its answer.") from error


def _too_large(max_bytes: int) -> TooLarge:
    return TooLarge(f"The server answered with more than {max_bytes} bytes.")
