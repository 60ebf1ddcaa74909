"""Changes on their way to clients: ``subscriptions/listen`` and the legacy stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from starlette.types import Receive, Send

from auth import Caller
from gateway.catalog.catalog import Catalog
from gateway.change_bus import Changes
from gateway.contract import Change, Offer
from gateway.errors import PortalError
from gateway.limits.stream_shares import TooManyStreams
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http.open_streams import OpenStreams, portions
from gateway.surfaces.http.responses import send_json
from gateway.surfaces.mcp.change_log import (
    LISTS,
    Chronicle,
    News,
    everything,
    message,
    notification,
    written,
)
from gateway.surfaces.mcp.envelope import INTERNAL_ERROR, INVALID_REQUEST, WireError, success
from gateway.surfaces.mcp.followed_resources import Followers
from gateway.surfaces.mcp.push_stream import Feed
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.sessions import Session
from gateway.surfaces.mcp.sse import event, priming
from gateway.surfaces.mcp.task_news import TaskNews
from gateway.toolkit.background import background

MAX_FOLLOWED_RESOURCES = 1000
"""Resources that one client may follow."""

_ID = "io.modelcontextprotocol/subscriptionId"
_WANTED = {kind: f"{kind}ListChanged" for kind in LISTS}

Tell = Callable[[News], None]
"""Puts news into one client's feed, where they concern that client."""


class Subscriptions:
    """Tells clients of changes, each only of what its caller may see.

    Args:
        catalog: says which resources a caller may follow.
        changes: brings the news.
        streams: gives the places, and looks after the streams.
        offers: what the open plugins offer.
        sessions: the legacy sessions that this process holds.

    Attributes:
        followers: tells plugins which of their resources are followed.
    """

    def __init__(
        self,
        catalog: Catalog,
        changes: Changes,
        streams: OpenStreams,
        offers: Mapping[str, Offer],
        sessions: Mapping[str, Session],
    ) -> None:
        self.followers = Followers(catalog, offers, self._followed)
        self._sessions = sessions
        self._wanted: dict[Feed, tuple[Sequence[str], Caller]] = {}
        self._catalog = catalog
        self._streams = streams
        self._listening: dict[Feed, Tell] = {}
        self._chronicle = Chronicle()
        self._news: list[News] = []
        self._telling: asyncio.Task[None] | None = None
        changes.listen(self._on_change)

    async def listen(self, request: Request, receive: Receive, send: Send, tasks: TaskNews) -> None:
        """Answer ``subscriptions/listen``: acknowledge, then send changes until the end."""
        try:
            if request.channel.outbox.closed:
                raise WireError(INVALID_REQUEST, "Accept text/event-stream to listen.")
            task_ids = await tasks.granted(request)
        except WireError as error:
            return await send_json(send, error.body(request.id), error.status)
        wanted, feed, meta = self._granted(request), Feed(), {_ID: request.id}
        if task_ids:
            wanted["taskIds"] = list(task_ids)

        def tell(news: News) -> None:
            if self._is_wanted(news.change, wanted, request):
                method, params = notification(news.change)
                feed.send(message(method, {**params, "_meta": meta}))

        acknowledged = "notifications/subscriptions/acknowledged"
        feed.send(message(acknowledged, {"notifications": wanted, "_meta": meta}))
        result = request.era.result("subscriptions/listen", {"_meta": meta})
        last = event(success(request.id, result))
        try:
            with (
                self._registered(feed, request.context, tell),
                self._following(feed, wanted, request),
            ):
                async with background(tasks.follow(request, task_ids, feed, meta)):
                    await feed.run(receive, send, last)
        except TooManyStreams as refusal:
            await refuse(send, refusal, request.id)

    async def follow(
        self,
        session: Session,
        context: CallContext,
        receive: Receive,
        send: Send,
        last: str | None = None,
    ) -> None:
        """Answer a legacy session's GET: send changes until the end.

        Args:
            session: whose.
            context: who asks.
            receive: the ASGI channel.
            send: the ASGI channel.
            last: the id of the last event that the client has had, where it comes back.
        """
        # The stream's own caller: since they began to follow something, their tier may have gone
        # down, or they may have come with a token that goes less far.
        feed, told, caller = Feed(), 0, context.caller

        def tell(news: News) -> None:
            is_newest = session.streams[-1] is feed
            if is_newest and news.number > told and self._concerns(news.change, session, caller):
                feed.put(written(news))

        try:
            with self._registered(feed, context, tell), session.stream(feed):
                told = self._catch_up(session, caller, feed, last)
                await feed.run(receive, send)
        except TooManyStreams as refusal:
            await refuse(send, refusal, None)

    def _catch_up(self, session: Session, caller: Caller, feed: Feed, last: str | None) -> int:
        """Tell a client what it has missed.

        Returns:
            The number of the last change that it needs not be told of.
        """
        told, missed = self._chronicle, list[bytes]()
        heard = told.heard(last) if last is not None else told.newest - len(self._news)
        if session.signed_in:  # since the stream before this one: it sees more than it did
            session.signed_in, session.sees_since = False, told.skip()
            heard = None
        at = told.newest
        if heard is None or (last is not None and heard < session.sees_since):
            heard = at
            readable = [uri for uri in session.subscribed if self.readable(uri, caller)]
            missed = everything(readable, told.id(at))
        elif last is not None:
            after = told.after(heard)
            missed = [
                written(each) for each in after if self._concerns(each.change, session, caller)
            ]
        if session.primes:
            feed.put(priming(told.id(heard)))
        for each in missed:
            feed.put(each)
        return at if last is not None else heard

    @contextmanager
    def _following(
        self, feed: Feed, wanted: Mapping[str, Any], request: Request
    ) -> Generator[None]:
        self._wanted[feed] = wanted.get("resourceSubscriptions", ()), request.caller
        self.followers.changed()
        try:
            yield
        finally:
            del self._wanted[feed]
            self.followers.changed()

    def _followed(self) -> Iterator[tuple[str, Caller]]:
        """The resources that clients follow, and as whom."""
        for uris, caller in self._wanted.values():
            yield from ((uri, caller) for uri in uris)
        for session in list(self._sessions.values()):
            if session.subscribed and session.follows:
                yield from session.subscribed.items()

    def readable(self, uri: str, caller: Caller, only: str | None = None) -> bool:
        """Whether a caller may follow a resource, which is whether they may read it."""
        try:
            self._catalog.resource(uri, caller, only)
        except PortalError:
            return False
        return True

    @contextmanager
    def _registered(self, feed: Feed, context: CallContext, tell: Tell) -> Generator[None]:
        with self._streams.place(context, feed):
            self._listening[feed] = tell
            try:
                yield
            finally:
                del self._listening[feed]

    def _on_change(self, change: Change) -> None:
        """Begin to tell of a change; what comes meanwhile is told in the next round."""
        self._news.append(self._chronicle.add(change))
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

    def _concerns(self, change: Change, session: Session, caller: Caller) -> bool:
        if change.kind != "resource":
            return True
        uri = change.uri or ""
        return uri in session.subscribed and self.readable(uri, caller)


def _tell(tell: Tell, news: Sequence[News]) -> None:
    for each in news:
        tell(each)


async def refuse(send: Send, refusal: TooManyStreams, request_id: Any) -> None:
    """Answer that there is no place for a stream."""
    body = WireError(INTERNAL_ERROR, refusal.message, refusal.details).body(request_id)
    await send_json(send, body, 503, refusal.headers)
