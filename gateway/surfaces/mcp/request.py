"""One MCP request in flight: who asks for what, in which era, and the way back to the client."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from auth import Caller
from gateway.config.tools import Mode
from gateway.contract import ToolFailed
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.mcp.call_messages import Outbox
from gateway.surfaces.mcp.elicitations import Elicitations
from gateway.surfaces.mcp.relay import Relay
from gateway.surfaces.mcp.results import Era
from gateway.surfaces.mcp.sessions import Session
from gateway.surfaces.views.apps import shows_apps
from gateway.toolkit.client_capabilities import ELICITATION, lacking

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Request(NamedTuple):
    """A checked request.

    Attributes:
        id: the JSON-RPC id.
        method: the JSON-RPC method.
        params: its parameters.
        meta: ``params._meta``, or an empty mapping.
        era: the shape of results.
        context: who asks, and from where.
        channel: the way back to the client.
        mode: how the client is told of many tools.
    """

    id: Any
    method: str
    params: Mapping[str, Any]
    meta: Mapping[str, Any]
    era: Era
    context: CallContext
    channel: Channel
    mode: Mode = "full"

    @property
    def caller(self) -> Caller:
        """Who asks."""
        return self.context.caller

    @property
    def apps(self) -> bool:
        """Whether the client shows Apps."""
        return shows_apps(self.channel.capabilities)

    @property
    def only(self) -> str | None:
        """A plugin's name, where the address serves one plugin alone."""
        return self.context.only


class Channel:
    """The way back to an MCP client (:class:`gateway.pipeline.exchange.Client`).

    Args:
        outbox: where messages to the client go.
        capabilities: what the client declared.
        progress_token: the client's token, where it asked for progress.
        log_level: the least level the client wants, or None for no logs.
        session: the legacy session through which the client may be asked, or None.
        relay: finds the client's answers, where there is a session.
        elicitations: tells the client when links have been opened, where there is a session.

    Attributes:
        name: what the client calls itself.
    """

    def __init__(
        self,
        outbox: Outbox,
        capabilities: Mapping[str, Any],
        progress_token: Any = None,
        log_level: str | None = None,
        session: Session | None = None,
        relay: Relay | None = None,
        elicitations: Elicitations | None = None,
    ) -> None:
        self.outbox = outbox
        self.capabilities = capabilities
        self.name = "" if session is None else session.client
        self._token = progress_token
        self._log_level = log_level
        self._session = session
        self._relay = relay
        self._elicitations = elicitations
        self._done = float("-inf")

    @property
    def session(self) -> Session | None:
        """The legacy session that the request is of, or None."""
        return self._session

    @property
    def mark(self) -> str:
        """What stands for the legacy session; empty where there is none."""
        return "" if self._session is None else self._session.mark

    @property
    def can_ask(self) -> bool:
        """Whether the client can be asked: only a legacy session with its stream open can."""
        return self._session is not None and not self.outbox.closed

    @property
    def log_level(self) -> str | None:
        """The least level the client wants: what its session says now, or else its request."""
        return self._log_level if self._session is None else self._session.log_level

    async def progress(
        self, done: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Send ``notifications/progress``, where asked for and ``done`` has grown."""
        if self._token is None or not done > self._done:
            return
        self._done = done
        more = {"total": total, "message": message}
        params = {"progressToken": self._token, "progress": done}
        params |= {key: value for key, value in more.items() if value is not None}
        self.notify("notifications/progress", params)

    async def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Send ``notifications/message``, where the client's level lets it through."""
        least = self.log_level
        if least is None or LEVELS.index(level) < LEVELS.index(least):
            return
        params = {"level": level, "data": data} | ({"logger": logger} if logger else {})
        self.notify("notifications/message", params)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification on this call's stream."""
        self.outbox.send({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a request on this call's stream and await the client's answer."""
        if self._session is None or self._relay is None or not self.can_ask:
            raise ToolFailed("cannot_ask", f"This client cannot answer {method} here.")
        if lacks := lacking(method, params, self.capabilities):
            raise ToolFailed("cannot_ask", f"This client did not declare {lacks}.")
        if method == ELICITATION and params.get("mode") == "url":
            # This era wants each such question to have an id; one of 2026-07-28 has none.
            params = {"elicitationId": secrets.token_urlsafe(16), **params}
        gone = asyncio.ensure_future(self.outbox.wait_closed())
        with self._relay.question(self._session) as (number, answer):
            try:
                self.outbox.send(
                    {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}
                )
                either: set[asyncio.Future[Any]] = {answer, gone}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            finally:
                gone.cancel()
        if not answer.done():
            raise ToolFailed("client_left", f"The client left before it answered {method}.")
        return _answered(method, answer.result())

    def link_asked(self, elicitation: str) -> Callable[[], None]:
        """Have the client told once a link has done what it is for; newer ones are told nothing."""
        if self._session is None or self._elicitations is None:
            return lambda: None
        return self._elicitations.asked(self._session, elicitation)


def _answered(method: str, reply: Mapping[str, Any]) -> Mapping[str, Any]:
    result, error = reply.get("result"), reply.get("error")
    if isinstance(result, Mapping):
        return result
    reason = error.get("message") if isinstance(error, Mapping) else None
    raise ToolFailed("client_refused", f"The client refused {method}: {reason or 'no reason'}")
