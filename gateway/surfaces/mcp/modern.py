"""The modern leg, 2026-07-28: every POST stands alone."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

import mcp_types as mcp
from mcp_types import methods as specified
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.types import Receive, Send

from gateway.config.tools import Mode
from gateway.discovery.client_table import ClientTable
from gateway.observability.logs import get_logger
from gateway.pipeline.call import InternalError
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http.responses import send_json
from gateway.surfaces.mcp import reply_stream, skills, tasks
from gateway.surfaces.mcp.envelope import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    WireError,
    check_modern,
    is_request,
    success,
    unknown_method,
    unsupported_version,
)
from gateway.surfaces.mcp.methods import Methods, Result
from gateway.surfaces.mcp.request import LEVELS, Channel, Request
from gateway.surfaces.mcp.results import Era
from gateway.surfaces.mcp.step_up import Challenge
from gateway.surfaces.mcp.subscriptions import Subscriptions
from gateway.surfaces.mcp.task_news import TaskNews
from gateway.toolkit.client_capabilities import name_of

log = get_logger(__name__)


class Modern:
    """Serves 2026-07-28 requests.

    Args:
        methods: answers them.
        subscriptions: answers ``subscriptions/listen``.
        server: the portal's ``serverInfo``.
        clients: says how a client is told of many tools.
        tasks: tells streams of tasks.
    """

    def __init__(
        self,
        methods: Methods,
        subscriptions: Subscriptions,
        server: Mapping[str, Any],
        clients: ClientTable,
        tasks: TaskNews,
    ) -> None:
        self._era = Era(LATEST_MODERN_VERSION, server)
        self._methods = methods
        self._subscriptions = subscriptions
        self._clients = clients
        self._tasks = tasks

    async def serve(
        self, message: Mapping[str, Any], context: CallContext, receive: Receive, send: Send
    ) -> None:
        """Answer one POST, whose body is decoded already."""
        try:
            if not is_request(message):
                return await self._notification(message, context, send)
            request = self._request(message, context)
        except WireError as error:
            return await send_json(send, error.body(_id(message)), error.status)
        if request.method == "subscriptions/listen":
            return await self._subscriptions.listen(request, receive, send, self._tasks)
        work = settle(request, self._methods.answer(request))
        return await reply_stream.answer(work, request.channel.outbox, receive, send)

    async def _notification(
        self, message: Mapping[str, Any], context: CallContext, send: Send
    ) -> None:
        # This revision defines no notification from client to server; one that comes all the
        # same is taken and dropped, at a version that is served.
        if "method" not in message:
            raise WireError(INVALID_REQUEST, "A response is not accepted on this wire.")
        version = context.headers.get("mcp-protocol-version")
        if version not in MODERN_PROTOCOL_VERSIONS:
            raise unsupported_version(version)
        await send_json(send, b"", 202)

    def _request(self, message: Mapping[str, Any], context: CallContext) -> Request:
        meta = check_modern(message, context.headers, context.raw_headers)
        method, params = message["method"], message["params"]
        validate(method, LATEST_MODERN_VERSION, params)
        level = meta.get(mcp.LOG_LEVEL_META_KEY)
        channel = Channel(
            reply_stream.Outbox.of(context.headers),
            meta[mcp.CLIENT_CAPABILITIES_META_KEY],
            progress_token=meta.get("progressToken"),
            log_level=level if level in LEVELS else None,
        )
        channel.name = name_of(meta.get(mcp.CLIENT_INFO_META_KEY))
        return Request(
            id=message["id"],
            method=method,
            params=params,
            meta=meta,
            era=self._era,
            context=context,
            channel=channel,
            mode=self._mode(meta, context) if method == "tools/list" else "full",
        )

    def _mode(self, meta: Mapping[str, Any], context: CallContext) -> Mode:
        if context.local:  # a person on the portal's own machine
            return "full"
        return self._clients.mode(
            meta.get(mcp.CLIENT_INFO_META_KEY), meta[mcp.CLIENT_CAPABILITIES_META_KEY]
        )


def validate(method: str, version: str, params: Mapping[str, Any] | None) -> None:
    """Check a request's parameters against the specification's own models.

    Raises:
        WireError: the version has no such method, or the parameters are not of its shape.
    """
    if method in skills.METHODS:
        return skills.check(method, params or {})
    if method in tasks.METHODS and version == LATEST_MODERN_VERSION:
        return tasks.check(method, params or {})
    try:
        # What `validate_client_request` does, without what it does each time to say it.
        model = specified.CLIENT_REQUESTS[method, version]
        request = {"jsonrpc": "2.0", "id": 0, "method": method}
        if params is not None:
            request["params"] = params
        model.__pydantic_validator__.validate_python(request, by_name=False)
    except KeyError:
        raise unknown_method(method) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise WireError(INVALID_PARAMS, f"Invalid parameters: {where}: {first['msg']}") from None


async def settle(request: Request, work: Awaitable[Result]) -> reply_stream.Reply:
    """Turn a method's outcome, whatever it is, into the JSON-RPC response."""
    try:
        result = await work
    except Challenge as challenge:
        return reply_stream.Reply(challenge.body(request.id), challenge.status, challenge.headers)
    except WireError as error:
        status = error.status if request.era.modern else 200
        return reply_stream.Reply(error.body(request.id), status)
    except InternalError as error:
        return _hidden(request, error)
    except Exception:
        log.exception("request_failed", method=request.method)
        return _hidden(request, InternalError(request.context.request_id))
    return reply_stream.Reply(success(request.id, result.body), headers=result.headers)


def _hidden(request: Request, error: InternalError) -> reply_stream.Reply:
    data = {"request_id": error.request_id}
    return reply_stream.Reply(WireError(INTERNAL_ERROR, str(error), data).body(request.id))


def _id(message: Mapping[str, Any]) -> Any:
    value = message.get("id")
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None
