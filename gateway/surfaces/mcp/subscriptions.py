"""Changes on their way to clients: ``subscriptions/listen`` and the legacy stream."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from gateway.catalog import Catalog
from gateway.changes import Changes
from gateway.contract import Change
from gateway.errors import PortalError
from gateway.surfaces.mcp.envelope import INTERNAL_ERROR, WireError
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.sessions import Sessions

MOST = 1024
"""Streams that listen at the same time."""

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
        self._open = 0
        self.closing = asyncio.Event()
        changes.listen(self._tell_sessions)

    async def listen(self, request: Request) -> bytes:
        """Answer ``subscriptions/listen``: acknowledge, then send changes until the end."""
        if self._open >= MOST:
            raise WireError(INTERNAL_ERROR, "Too many subscriptions are open. Try again later.")
        wanted = self._granted(request)
        meta = {_ID: request.id}
        request.channel.notify(
            "notifications/subscriptions/acknowledged", {"notifications": wanted, "_meta": meta}
        )

        def tell(change: Change) -> None:
            if _is_wanted(change, wanted):
                method, params = _notification(change)
                request.channel.notify(method, {**params, "_meta": meta})

        stop = self._changes.listen(tell)
        self._open += 1
        try:
            await self.closing.wait()
        finally:
            stop()
            self._open -= 1
        return request.era.result("subscriptions/listen", {"_meta": meta})

    def readable(self, uri: str, request: Request) -> bool:
        """Whether the caller may follow a resource, which is whether they may read it."""
        try:
            self._catalog.resource(uri, request.caller, request.only)
        except PortalError:
            return False
        return True

    def _granted(self, request: Request) -> dict[str, Any]:
        asked: Mapping[str, Any] = request.params["notifications"]
        granted: dict[str, Any] = {name: True for name in _WANTED.values() if asked.get(name)}
        uris = asked.get("resourceSubscriptions") or ()
        if followed := [uri for uri in uris if self.readable(uri, request)]:
            granted["resourceSubscriptions"] = followed
        return granted

    def _tell_sessions(self, change: Change) -> None:
        method, params = _notification(change)
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        for session in self._sessions.live.values():
            if change.kind != "resource" or change.uri in session.subscribed:
                session.announce(message)


def _is_wanted(change: Change, wanted: Mapping[str, Any]) -> bool:
    if change.kind == "resource":
        return change.uri in wanted.get("resourceSubscriptions", ())
    return _WANTED[change.kind] in wanted


def _notification(change: Change) -> tuple[str, dict[str, Any]]:
    if change.kind == "resource":
        return "notifications/resources/updated", {"uri": change.uri}
    return f"notifications/{change.kind}/list_changed", {}
