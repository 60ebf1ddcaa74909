"""Changes on their way to clients: ``subscriptions/listen`` and the legacy stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from starlette.types import Receive, Send

from auth import Caller
from gateway.catalog.catalog import Catalog
from gateway.changes import Changes
from gateway.contract import Change
from gateway.errors import PortalError
from gateway.limits.stream_shares import TooManyStreams
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http.open_streams import OpenStreams, portions
from gateway.surfaces.http.responses import send_json
from gateway.surfaces.mcp.envelope import INTERNAL_ERROR, INVALID_REQUEST, WireError, success
from gateway.surfaces.mcp.feed import Feed
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.sessions import Session
from gateway.surfaces.mcp.stream import encoded, event

MAX_FOLLOWED_RESOURCES = 1000
"""Resources that one client may follow."""

_ID = "io.modelcontextprotocol/subscriptionId"
_WANTED = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}

Tell = Callable[[Change], None]
"""Puts news of a change into one client's feed, where it concerns that client."""


class Subscriptions:
    """Tells clients of changes, each only of what its caller may see.

    Args:
        catalog: says which resources a caller may follow.
        changes: brings the news.
        streams: gives the places, and looks after the streams.
    """

    def __init__(self, catalog: Catalog, changes: Changes, streams: OpenStreams) -> None:
        self._catalog = catalog
        self._streams = streams
        self._listening: dict[Feed, Tell] = {}
        self._news: list[Change] = []
        self._telling: asyncio.Task[None] | None = None
        changes.listen(self._on_change)

    async def listen(self, request: Request, receive: Receive, send: Send) -> None:
        """Answer ``subscriptions/listen``: acknowledge, then send changes until the end."""
        if request.channel.outbox.closed:
            error = WireError(INVALID_REQUEST, "Accept text/event-stream to listen.")
            return await send_json(send, error.body(request.id), error.status)
        wanted, feed, meta = self._granted(request), Feed(), {_ID: request.id}

        def tell(change: Change) -> None:
            if self._is_wanted(change, wanted, request):
                method, params = _notification(change)
                feed.send(_message(method, {**params, "_meta": meta}))

        acknowledged = "notifications/subscriptions/acknowledged"
        feed.send(_message(acknowledged, {"notifications": wanted, "_meta": meta}))
        result = request.era.result("subscriptions/listen", {"_meta": meta})
        last = event(success(request.id, result))
        try:
            with self._told(feed, request.context, tell):
                await feed.run(receive, send, last)
        except TooManyStreams as refusal:
            await _refuse(send, refusal, request.id)

    async def follow(
        self, session: Session, context: CallContext, receive: Receive, send: Send
    ) -> None:
        """Answer a legacy session's GET: send changes until the end."""
        feed = Feed()

        def tell(change: Change) -> None:
            if session.streams[-1] is feed and self._concerns(change, session):
                feed.put(_written(change))

        try:
            with self._told(feed, context, tell), session.stream(feed):
                if session.signed_in:  # since the stream before this one
                    session.signed_in = False
                    for kind in _WANTED:
                        feed.send(_message(_list_changed(kind), {}))
                await feed.run(receive, send)
        except TooManyStreams as refusal:
            await _refuse(send, refusal, None)

    def readable(self, uri: str, caller: Caller, only: str | None = None) -> bool:
        """Whether a caller may follow a resource, which is whether they may read it."""
        try:
            self._catalog.resource(uri, caller, only)
        except PortalError:
            return False
        return True

    @contextmanager
    def _told(self, feed: Feed, context: CallContext, tell: Tell) -> Generator[None]:
        with self._streams.place(context, feed):
            self._listening[feed] = tell
            try:
                yield
            finally:
                del self._listening[feed]

    def _on_change(self, change: Change) -> None:
        """Begin to tell of a change; what comes meanwhile is told in the next round."""
        self._news.append(change)
        if self._telling is None and self._listening:
            self._telling = asyncio.ensure_future(self._tell_all())
        elif self._telling is None:
            self._news.clear()

    async def _tell_all(self) -> None:
        try:
            while self._news:
                news, self._news = self._news, []
                async for feed, tell in portions(list(self._listening.items())):
                    if not feed.closed:
                        _tell(tell, news)
        finally:
            self._telling = None

    def _granted(self, request: Request) -> dict[str, Any]:
        asked: Mapping[str, Any] = request.params["notifications"]
        granted: dict[str, Any] = {name: True for name in _WANTED.values() if asked.get(name)}
        uris = asked.get("resourceSubscriptions") or []
        who, only = request.caller, request.only
        if followed := [
            uri for uri in uris[:MAX_FOLLOWED_RESOURCES] if self.readable(uri, who, only)
        ]:
            granted["resourceSubscriptions"] = followed
        return granted

    def _is_wanted(self, change: Change, wanted: Mapping[str, Any], request: Request) -> bool:
        if change.kind != "resource":
            return _WANTED[change.kind] in wanted
        # The tiers may have changed since the stream was opened.
        followed = change.uri in wanted.get("resourceSubscriptions", ())
        return followed and self.readable(change.uri or "", request.caller, request.only)

    def _concerns(self, change: Change, session: Session) -> bool:
        if change.kind != "resource":
            return True
        caller = session.subscribed.get(change.uri or "")
        return caller is not None and self.readable(change.uri or "", caller)


def _tell(tell: Tell, news: Sequence[Change]) -> None:
    for change in news:
        tell(change)


async def _refuse(send: Send, refusal: TooManyStreams, request_id: Any) -> None:
    body = WireError(INTERNAL_ERROR, refusal.message, refusal.details).body(request_id)
    await send_json(send, body, 503, refusal.headers)


@lru_cache(maxsize=16)
def _written(change: Change) -> bytes:
    """A change as legacy clients are told, written out once for all of them."""
    return event(encoded(_message(*_notification(change))))


def _message(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _notification(change: Change) -> tuple[str, dict[str, Any]]:
    if change.kind == "resource":
        return "notifications/resources/updated", {"uri": change.uri}
    return _list_changed(change.kind), {}


def _list_changed(kind: str) -> str:
    return f"notifications/{kind}/list_changed"
