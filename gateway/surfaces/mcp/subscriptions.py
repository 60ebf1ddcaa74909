"""Changes on their way to clients: ``subscriptions/listen`` and the legacy stream."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from auth import Caller
from gateway.catalog.catalog import Catalog
from gateway.changes import Changes
from gateway.contract import Change
from gateway.errors import PortalError
from gateway.pipeline.call_context import WhoNow
from gateway.surfaces.http.revalidation import until_changed
from gateway.surfaces.mcp.envelope import INTERNAL_ERROR, INVALID_REQUEST, WireError
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.sessions import Session, Sessions
from gateway.surfaces.mcp.stream import Outbox

MAX_OPEN_STREAMS = 1024
"""Streams that are open at the same time, both eras together."""
MAX_FOLLOWED_RESOURCES = 1000
"""Resources that one client may follow."""

_ID = "io.modelcontextprotocol/subscriptionId"
_WANTED = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}


class Subscriptions:
    """Tells clients of changes, each only of what its caller may see.

    Args:
        catalog: says which resources a caller may follow.
        changes: brings the news.
        sessions: the legacy clients.
    """

    def __init__(self, catalog: Catalog, changes: Changes, sessions: Sessions) -> None:
        self._catalog = catalog
        self._changes = changes
        self._sessions = sessions
        self._open: set[Outbox] = set()
        self._closing = False
        changes.listen(self._tell_sessions)

    async def listen(self, request: Request) -> bytes:
        """Answer ``subscriptions/listen``: acknowledge, then send changes until the end."""
        outbox = request.channel.outbox
        if outbox.closed:
            raise WireError(INVALID_REQUEST, "Accept text/event-stream to listen.")
        wanted = self._granted(request)
        meta = {_ID: request.id}

        def on_change(change: Change) -> None:
            if self._is_wanted(change, wanted, request):
                method, params = _notification(change)
                request.channel.notify(method, {**params, "_meta": meta})

        with self.place(outbox, request.caller, request.context.again):
            request.channel.notify(
                "notifications/subscriptions/acknowledged", {"notifications": wanted, "_meta": meta}
            )
            stop = self._changes.listen(on_change)
            try:
                await outbox.wait_closed()
            finally:
                stop()
        return request.era.result("subscriptions/listen", {"_meta": meta})

    @contextmanager
    def place(self, outbox: Outbox, caller: Caller, again: WhoNow) -> Generator[None]:
        """Hold a place for an open stream; :meth:`close` closes its outbox.

        The outbox is closed as well when its caller's credential ends or their access changes,
        so that the client connects anew as who it is by then.

        Raises:
            WireError: too many are open, or the portal is stopping.
        """
        if self._closing or len(self._open) >= MAX_OPEN_STREAMS:
            raise WireError(INTERNAL_ERROR, "No more streams can be opened. Try again later.")
        self._open.add(outbox)
        watching = asyncio.create_task(_watch(outbox, caller, again))
        try:
            yield
        finally:
            watching.cancel()
            self._open.discard(outbox)

    def close(self) -> None:
        """End every stream, because the portal stops."""
        self._closing = True
        for outbox in self._open:
            outbox.close()

    def readable(self, uri: str, caller: Caller, only: str | None = None) -> bool:
        """Whether a caller may follow a resource, which is whether they may read it."""
        try:
            self._catalog.resource(uri, caller, only)
        except PortalError:
            return False
        return True

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

    def _tell_sessions(self, change: Change) -> None:
        method, params = _notification(change)
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        for session in self._sessions.live.values():
            if change.kind != "resource" or self._follows(session, change.uri or ""):
                session.announce(message)

    def _follows(self, session: Session, uri: str) -> bool:
        caller = session.subscribed.get(uri)
        return caller is not None and self.readable(uri, caller)


def lists_changed() -> Generator[dict[str, Any]]:
    """The messages of the legacy era that make a client read every list again."""
    for kind in _WANTED:
        yield {"jsonrpc": "2.0", "method": _list_changed(kind), "params": {}}


async def _watch(outbox: Outbox, caller: Caller, again: WhoNow) -> None:
    """Close an outbox once its caller is no longer who they were."""
    await until_changed(caller, again)
    outbox.close()


def _notification(change: Change) -> tuple[str, dict[str, Any]]:
    if change.kind == "resource":
        return "notifications/resources/updated", {"uri": change.uri}
    return _list_changed(change.kind), {}


def _list_changed(kind: str) -> str:
    return f"notifications/{kind}/list_changed"
