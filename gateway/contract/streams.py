"""Streams that an API declares: events that go out as they happen, over SSE or a WebSocket.

A plugin gives the events. Who may read them, for how long, in which form and how fast is the
gateway's (``gateway/surfaces/rest/streams.py``).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from gateway.contract.config_types import checked_rate
from gateway.contract.routes import Route

_BREAKS = frozenset("\r\n\0")


@dataclass(frozen=True)
class StreamEvent:
    """One event of a stream. Many streams may send the same one; it is written out once.

    Attributes:
        event: what kind it is, by which clients tell it apart; "" where it says nothing.
        data: what it says; None where it only says how far the stream has come (``id``), which
            no client is shown and every client remembers.
        id: from where a client goes on that lost its connection; None leaves it where it was.

    Raises:
        ValueError: the kind or the id holds a line break, which would end it on the wire; or it
            has a kind and says nothing, or the other way round.
    """

    event: str = ""
    data: BaseModel | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        if not _BREAKS.isdisjoint(f"{self.event}{self.id or ''}"):
            raise ValueError("the kind and the id of an event hold no line break")
        if bool(self.event) is (self.data is None):
            raise ValueError("an event has a kind and data, or neither: then it is a place alone")

    @cached_property
    def sse(self) -> bytes:
        """The event on an event stream (WHATWG HTML, "Server-sent events")."""
        lines = [b"id: " + self.id.encode()] if self.id is not None else []
        if self.data is not None:
            lines += [b"event: " + self.event.encode(), b"data: " + self._data]
        return b"\n".join([*lines, b"\n"])

    @cached_property
    def message(self) -> str:
        """The event as the text of a WebSocket's message: ``id``, ``event`` and ``data``.

        The last two are null where it says how far the stream has come. Server-sent events have
        the same as an ``id`` line alone, which clients remember and dispatch nothing of.
        """
        id, event = to_json(self.id), to_json(self.event or None)
        return (b'{"id":%s,"event":%s,"data":%s}' % (id, event, self._data)).decode()

    @cached_property
    def _data(self) -> bytes:
        if self.data is None:
            return b"null"
        return self.data.__pydantic_serializer__.to_json(
            self.data, by_alias=True, exclude_none=True
        )


Opened = AsyncGenerator[StreamEvent, None] | None
"""The events of a stream that was opened; None where there is nothing more to come."""


@dataclass(frozen=True, slots=True)
class Stream:
    """An endpoint of an ``Api`` that streams events, as SSE or over a WebSocket on the same path.

    ``format`` and ``last_event_id`` in the query are the gateway's own, beside ``params``.

    Attributes:
        path: below the API's prefixes, such as ``/stream``.
        open: ``await open(params, caller, last_event_id)``; gives an async generator, which is
            asked for the next event once the client has taken the one before, so it keeps no
            more than it needs, and is closed when the stream ends. What it refuses, by
            ``ToolFailed``, is answered before the stream begins. The id is that of the last event
            that the client has had, or None; None for an answer says that a client which goes on
            from there has had everything.
        tool: the plugin's tool whose tier the stream carries.
        params: the pydantic model of its query parameters. One that is a model itself stands
            there as URL-encoded JSON.
        events: the models of what its events say, for the document.
        summary: one line for the document.
        operation: what opening is counted as, as a ``Route``'s.
        rate: how often one caller may open it, as a ``Route``'s.
        name: what generated clients call it, as a ``Route``'s.

    Raises:
        ValueError: its rate means nothing.
    """

    path: str
    open: Callable[[Any, Any, str | None], Awaitable[Opened]]
    tool: str
    params: type[BaseModel]
    events: Sequence[type[BaseModel]]
    summary: str
    operation: str
    rate: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        if self.rate:
            checked_rate(self.rate)

    def route(self) -> Route:
        """The same as a route, for what is alike: its tier, its limit and its parameters."""

        async def begin(params: Any, caller: Any) -> Any:
            return await self.open(params, caller, None)

        return Route(
            method="GET",
            path=self.path,
            run=begin,
            tool=self.tool,
            params=self.params,
            response=self.events[0],
            summary=self.summary,
            operation=self.operation,
            rate=self.rate,
            name=self.name,
        )
