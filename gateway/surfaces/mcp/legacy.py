"""The legacy leg, 2025-11-25 and older: a handshake, then requests in a session."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mcp_types import PROTOCOL_VERSION_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from starlette.types import Receive, Send

from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http.responses import send_json
from gateway.surfaces.mcp import reply_stream
from gateway.surfaces.mcp.about import About
from gateway.surfaces.mcp.elicitations import Elicitations
from gateway.surfaces.mcp.envelope import (
    CANCELLED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    RESOURCE_NOT_FOUND,
    WireError,
    is_request,
    success,
)
from gateway.surfaces.mcp.methods import Methods, Result
from gateway.surfaces.mcp.modern import settle, validate
from gateway.surfaces.mcp.relay import Relay
from gateway.surfaces.mcp.replies import Position
from gateway.surfaces.mcp.request import Channel, Request
from gateway.surfaces.mcp.results import Era
from gateway.surfaces.mcp.resumption import Resumption
from gateway.surfaces.mcp.sessions import Session, Sessions
from gateway.surfaces.mcp.subscriptions import MAX_FOLLOWED_RESOURCES, Subscriptions
from gateway.toolkit.mcp_names import HEADER_MISMATCH

SESSION = "mcp-session-id"
LAST_EVENT_ID = "last-event-id"
_EMPTY = b"{}"


class Legacy:
    """Serves clients that begin with ``initialize``.

    Args:
        methods: answers what both eras know.
        about: answers ``initialize``.
        sessions: the sessions.
        subscriptions: says which resources a caller may follow.
        relay: takes in what clients say of calls.
        elicitations: tells clients when links that they were asked to open have been.
        resumption: keeps the replies whose connections may break, and tells them again.
    """

    def __init__(
        self,
        methods: Methods,
        about: About,
        sessions: Sessions,
        subscriptions: Subscriptions,
        relay: Relay,
        elicitations: Elicitations,
        resumption: Resumption,
    ) -> None:
        self._methods = methods
        self._about = about
        self._sessions = sessions
        self._subscriptions = subscriptions
        self._relay = relay
        self._elicitations = elicitations
        self._resumption = resumption
        self._eras = {v: Era(v, about.server) for v in HANDSHAKE_PROTOCOL_VERSIONS}
        self._own = {
            "ping": _ping,
            "logging/setLevel": _set_level,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
        }

    async def serve(
        self, message: Mapping[str, Any], context: CallContext, receive: Receive, send: Send
    ) -> None:
        """Answer one POST, whose body is decoded already."""
        try:
            request_like = is_request(message)
        except WireError as error:
            return await send_json(send, error.body(None), error.status)
        if request_like and message["method"] == "initialize":
            return await self._initialize(message, context, send)
        session = await self._session(context, send, message if request_like else {})
        if session is None:
            return None
        if not request_like:
            await self._relay.take(session, message)
            return await send_json(send, b"", 202)
        request = self._request(message, context, session)
        kept = self._resumption.replies.begin(session, context.caller)
        work = self._run(request, session)
        return await reply_stream.answer(work, request.channel.outbox, receive, send, kept)

    async def open_stream(self, context: CallContext, receive: Receive, send: Send) -> None:
        """Answer a GET: the stream on which the portal speaks first, or the rest of a reply's."""
        session = await self._session(context, send)
        if session is None:
            return
        last = context.headers.get(LAST_EVENT_ID)
        if last is not None and (at := Position.of(last)) is not None:
            await self._resumption.serve(session, context, at, receive, send)
        else:
            await self._subscriptions.follow(session, context, receive, send, last or None)

    async def end(self, context: CallContext, send: Send) -> None:
        """Answer a DELETE: the client is done with its session."""
        session = await self._session(context, send)
        if session is not None:
            await self._sessions.end(session)
            self._subscriptions.followers.changed()
            await self._resumption.replies.forget(session)
            await send_json(send, b"", 204)

    async def _initialize(
        self, message: Mapping[str, Any], context: CallContext, send: Send
    ) -> None:
        params = message.get("params") or {}
        try:
            validate("initialize", LATEST_HANDSHAKE_VERSION, params)
        except WireError as error:
            return await send_json(send, error.body(message["id"]))
        asked = params["protocolVersion"]
        version = asked if asked in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION
        declared = params["capabilities"]
        session = self._sessions.begin(context.caller, version, declared, params["clientInfo"])
        result = {
            "protocolVersion": version,
            "capabilities": self._about.capabilities(modern=False),
            "serverInfo": self._about.server,
            "instructions": self._about.instructions(context.caller, context.only),
        }
        written = self._eras[version].result("initialize", result)
        body = success(message["id"], written)
        headers = ((SESSION.encode(), session.id.encode()),)
        return await send_json(send, body, headers=headers)

    async def _session(
        self, context: CallContext, send: Send, message: Mapping[str, Any] = MappingProxyType({})
    ) -> Session | None:
        session_id = context.headers.get(SESSION)
        if session_id is None:
            problem = _no_session(message)
            await send_json(send, problem.body(message.get("id")), 400)
            return None
        session = await self._sessions.find(session_id, context.caller)
        if session is None:
            problem = WireError(INVALID_REQUEST, "The session is unknown or over. Begin a new one.")
            await send_json(send, problem.body(message.get("id")), 404)
        return session

    def _request(
        self, message: Mapping[str, Any], context: CallContext, session: Session
    ) -> Request:
        params = message.get("params") or {}
        meta = params.get("_meta")
        meta = meta if isinstance(meta, Mapping) else {}
        channel = Channel(
            reply_stream.Outbox.of(context.headers),
            session.capabilities,
            progress_token=meta.get("progressToken"),
            session=session,
            relay=self._relay,
            elicitations=self._elicitations,
        )
        return Request(
            id=message["id"],
            method=message["method"],
            params=params,
            meta=meta,
            era=self._eras[session.version],
            context=context,
            channel=channel,
            mode="full" if context.local else session.mode,
        )

    async def _run(self, request: Request, session: Session) -> reply_stream.Reply:
        with self._relay.request(session, request.id):
            try:
                return await settle(request, self._answer(request, session))
            except asyncio.CancelledError:
                if (task := asyncio.current_task()) is not None:
                    task.uncancel()  # the request was cancelled, and its answer says so
                error = WireError(CANCELLED, "The client cancelled the request.")
                return reply_stream.Reply(error.body(request.id))

    async def _answer(self, request: Request, session: Session) -> Result:
        validate(request.method, request.era.version, request.params)
        if own := self._own.get(request.method):
            return Result(own(request, session))
        return await self._methods.answer(request)

    def _subscribe(self, request: Request, session: Session) -> bytes:
        uri = request.params["uri"]
        if not self._subscriptions.readable(uri, request.caller, request.only):
            raise WireError(RESOURCE_NOT_FOUND, f"Unknown resource: {uri}", {"uri": uri})
        if len(session.subscribed) >= MAX_FOLLOWED_RESOURCES:
            raise WireError(
                INVALID_PARAMS, f"A session may follow {MAX_FOLLOWED_RESOURCES} resources."
            )
        session.subscribed[uri] = request.caller
        self._subscriptions.followers.changed()
        return _EMPTY

    def _unsubscribe(self, request: Request, session: Session) -> bytes:
        session.subscribed.pop(request.params["uri"], None)
        self._subscriptions.followers.changed()
        return _EMPTY


def _ping(request: Request, session: Session) -> bytes:
    return _EMPTY


def _set_level(request: Request, session: Session) -> bytes:
    session.log_level = request.params["level"]
    return _EMPTY


def _no_session(message: Mapping[str, Any]) -> WireError:
    meta = message.get("params", {}).get("_meta")
    if isinstance(meta, Mapping) and PROTOCOL_VERSION_META_KEY in meta:
        return WireError(HEADER_MISMATCH, "The header mcp-protocol-version is missing.")
    return WireError(INVALID_REQUEST, "Begin with `initialize`, then send its Mcp-Session-Id.")
