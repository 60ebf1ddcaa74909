"""One route as an ASGI application, whichever API it belongs to."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from auth import ANONYMOUS, Tier
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.refusals import ForAdmins, NotAllowed, unknown
from gateway.contract import Refusal, Route, Tool, ToolFailed
from gateway.errors import PortalError
from gateway.limits.route_limits import RouteLimits
from gateway.limits.sliding_window import Taken
from gateway.pipeline.approval_answers import APPROVAL_NEEDED, APPROVAL_REFUSED
from gateway.pipeline.call import Call, InternalError, Outcome, Target
from gateway.pipeline.call_context import CallContext
from gateway.pipeline.json_chunks import Body, Pieces, json_pieces
from gateway.pipeline.pipeline import Pipeline
from gateway.scrubbing.report import HEADER, header
from gateway.scrubbing.scrubber import Redaction
from gateway.surfaces.http.body import BodyRefused, ClientLeft
from gateway.surfaces.http.error_formats import ErrorFormat
from gateway.surfaces.http.errors import RETRY_AFTER_SECONDS
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.http.responses import Headers, send_json
from gateway.surfaces.rest.openapi import Described
from gateway.surfaces.rest.parameters import given, parsed

SHARED = b"public, max-age=300, stale-while-revalidate=3600"
"""What caches do with what everyone may read."""
_OWN = b"private, no-cache"
_STATUS = {
    "not_found": 404,
    "busy": 503,
    "unavailable": 503,
    APPROVAL_NEEDED: 409,
    APPROVAL_REFUSED: 403,
}
"""Statuses of failures whose code says more than that the request was wrong."""


class Endpoint:
    """One route as an ASGI application.

    Args:
        described: the route.
        dialect: its API's way to say what is no result.
        catalog: the tier gate.
        pipeline: what every call passes.
        limit: bytes that a body may have.
        limits: counts the requests of each caller.
    """

    def __init__(
        self,
        described: Described,
        dialect: ErrorFormat,
        catalog: Catalog,
        pipeline: Pipeline,
        limit: int,
        limits: RouteLimits,
    ) -> None:
        self._route: Route = described.route
        self._name = described.route.tool or f"{described.route.method} {described.path}"
        self._operation = f"{described.route.method} {described.path}"
        self._plugin = described.plugin
        self._dialect = dialect
        self._catalog = catalog
        self._pipeline = pipeline
        self._limit = limit
        self._rate = described.rate
        self._limits = limits
        self._kind = "route" if self._route.admin else ""
        declared = Tool(self._name, self._route.summary, self._route.run)
        self._for_admins = Item(self._plugin, "tool", self._name, declared, {}, dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        context = context_of(scope)
        arguments = partial(given, scope, receive, self._route, self._limit)
        find = partial(self._target, context)
        outcome = await self._pipeline.call(self._call(context, find, arguments))
        if outcome.error is not None:
            await self._send_refusal(outcome.error, outcome, context, send)
            return
        headers = redacted(outcome.redactions) or self._cache_headers(outcome.item, context)
        headers = (*self._dialect.headers(outcome.taken), *headers)
        if self._route.method == "GET":
            await send_cached(scope, send, outcome.body, headers)
        else:
            await send_json(send, outcome.body, self._route.status, headers)

    def _call(
        self,
        context: CallContext,
        find: Callable[[], Target],
        arguments: Callable[[], Awaitable[Mapping[str, Any]]],
    ) -> Call:
        return Call(
            context=context,
            surface="rest",
            kind=self._kind or "tool",
            name=self._name,
            find=find,
            arguments=arguments,
            limit=partial(self._count, context) if self._rate else None,
            trace=context.headers,
        )

    def _target(self, context: CallContext) -> Target:
        item = self._item(context)
        return Target(
            item,
            self._route.run,
            self._parsed,
            _render,
            kind=self._kind,
            pieces=_pieces,
            operation=self._operation,
        )

    def _parsed(self, raw: Mapping[str, Any]) -> Any:
        return parsed(self._route.params, raw)

    def _item(self, context: CallContext) -> Item:
        """What is called, if this caller may."""
        if not self._route.admin:
            # An alias may have given the name that the plugin knows to another plugin's tool.
            name = self._catalog.called(self._plugin, self._name)
            if name is None:  # it was set aside
                raise unknown("tool", self._name)
            return self._catalog.tool(name, context.caller, self._plugin)
        # A session's cookie signs nobody in here, so no other site's page can act for an admin.
        if not context.local and not context.caller.admin:
            raise ForAdmins(self._for_admins.key)
        return self._for_admins

    async def _count(self, context: CallContext, item: str) -> Taken | None:
        """Count a request for what its caller may use."""
        if self._rate is None or not item:
            return None
        return await self._limits.take(self._rate, context.caller, context.peer)

    async def _send_refusal(
        self, error: Exception, outcome: Outcome, context: CallContext, send: Send
    ) -> None:
        """Say in the API's words why there is no result."""
        taken, headers = outcome.taken, redacted(outcome.redactions)
        if isinstance(error, PortalError):
            own = getattr(error, "headers", ())
            private = ((b"cache-control", _OWN), (b"vary", b"Authorization"))
            headers, refusal = (*own, *private), _refused(error, context)
        elif isinstance(error, ToolFailed):
            status = _STATUS.get(error.code, 400)
            if status == 503:
                headers = (*headers, (b"retry-after", b"%d" % RETRY_AFTER_SECONDS))
            refusal = Refusal(status, error.code, error.message, context.request_id, error.details)
        elif isinstance(error, BodyRefused):
            headers = (*headers, *error.headers)
            refusal = Refusal(error.status, error.code, str(error), context.request_id)
        elif isinstance(error, InternalError):
            refusal = Refusal(500, "internal_error", str(error), context.request_id)
        elif isinstance(error, ClientLeft):
            return
        else:
            raise error
        await self._dialect.refuse(send, refusal, headers, taken)

    def _cache_headers(self, item: Item | None, context: CallContext) -> Headers:
        if self._route.admin or self._route.method != "GET":
            return ((b"cache-control", b"no-store"),)
        shared = item and context.caller == ANONYMOUS and self._catalog.requires(item) is Tier.OPEN
        kind = SHARED if shared else _OWN
        return ((b"cache-control", kind), (b"vary", b"Authorization"))


def redacted(redactions: Sequence[Redaction]) -> Headers:
    """Says what was taken out of the parameters; no cache keeps an answer to a secret."""
    if not redactions:
        return ()
    name = HEADER.lower().encode()
    return ((name, header(redactions)), (b"cache-control", b"no-store"))


def _refused(error: PortalError, context: CallContext) -> Refusal:
    sign_in = isinstance(error, NotAllowed | ForAdmins) and context.caller.anonymous
    status = 401 if sign_in else error.status
    return Refusal(status, error.code, error.message, context.request_id, error.details)


def _render(value: BaseModel | Mapping[str, Any], redactions: Sequence[Redaction]) -> bytes:
    if isinstance(value, Mapping):  # a page of results
        return to_json(value, inf_nan_mode="null")
    return value.__pydantic_serializer__.to_json(value, by_alias=True, exclude_none=True)


def _pieces(
    value: BaseModel | Mapping[str, Any], redactions: Sequence[Redaction]
) -> Iterator[bytes]:
    return json_pieces(value)


def _digest(parts: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:32].encode()


async def send_cached(scope: Scope, send: Send, body: Body, headers: Headers) -> None:
    """Send a body with its ETag, or 304 where the client has it already."""
    if isinstance(body, Pieces):
        digest = await asyncio.to_thread(_digest, body.parts)
    else:
        digest = _digest((body,))
    tag = b'"' + digest + b'"'
    headers = (*headers, (b"etag", tag))
    asked = context_of(scope).headers.get("if-none-match", "")
    if any(each.strip().removeprefix("W/") in (tag.decode(), "*") for each in asked.split(",")):
        await send_json(send, b"", 304, headers)
        return
    await send_json(send, body, 200, headers)
