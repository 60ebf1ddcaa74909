"""One route as an ASGI application, whichever API it belongs to."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from auth import ANONYMOUS, Tier
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.messages import unknown
from gateway.contract import Caller, Refusal, Route, Tool, ToolFailed
from gateway.errors import ForAdmins, NotAllowed, PortalError
from gateway.limits.route_limits import RouteLimits, TooManyRequests
from gateway.limits.sliding_window import Taken
from gateway.pipeline.call_context import SilentExchange
from gateway.pipeline.pipeline import Call, InternalError, Pipeline, Refused
from gateway.scrubbing.report import HEADER, header
from gateway.surfaces.http.body import BodyRefused, ClientLeft
from gateway.surfaces.http.error_formats import ErrorFormat
from gateway.surfaces.http.request_context import Visit, visit_of
from gateway.surfaces.http.responses import Headers, send_json
from gateway.surfaces.rest.openapi import Described
from gateway.surfaces.rest.parameters import given, parsed

SHARED = b"public, max-age=300, stale-while-revalidate=3600"
"""What caches do with what everyone may read."""
_OWN = b"private, no-cache"
Told = PortalError | ToolFailed | BodyRefused | InternalError
"""What a request is refused by; each says it in its own way."""
REFUSALS: tuple[type[Told], ...] = (PortalError, ToolFailed, BodyRefused, InternalError)


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
        self._plugin = described.plugin
        self._dialect = dialect
        self._catalog = catalog
        self._pipeline = pipeline
        self._limit = limit
        self._rate = described.rate
        self._limits = limits
        declared = Tool(self._name, self._route.summary, self._route.run)
        self._for_admins = Item(self._plugin, "tool", self._name, declared, {}, dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        visit = visit_of(scope)
        exchange = SilentExchange(visit.request_id)
        taken: Taken | None = None
        try:
            item = self._item(visit)
            taken = await self._count(item, visit)
            raw = await given(scope, receive, self._route, self._limit)
            call = self._call(item, raw, visit, exchange, self._route.run)
            body = await self._pipeline.call(call, _render)
        except ClientLeft:
            return
        except REFUSALS as error:
            await self._tell(error, visit, exchange, taken, send)
        else:
            headers = redacted(exchange) or self._cache_headers(item, visit)
            headers = (*self._dialect.headers(taken), *headers)
            if self._route.method == "GET":
                await send_cached(scope, send, body, headers)
            else:
                await send_json(send, body, self._route.status, headers)

    async def _tell(
        self,
        error: Told,
        visit: Visit,
        exchange: SilentExchange,
        taken: Taken | None,
        send: Send,
    ) -> None:
        """Answer a request that was refused, in the API's words."""
        if isinstance(error, TooManyRequests):
            await self._refuse(error, visit, send, error.headers, error.taken)
        elif isinstance(error, PortalError):
            await self._refuse(error, visit, send, getattr(error, "headers", ()), taken)
        else:
            own = error.headers if isinstance(error, BodyRefused) else ()
            told = _refusal(error, visit.request_id)
            await self._dialect.refuse(send, told, (*redacted(exchange), *own), taken)

    def _item(self, visit: Visit) -> Item:
        """What is called, if this caller may."""
        if not self._route.admin:
            # An alias may have given the name that the plugin knows to another plugin's tool.
            name = self._catalog.called(self._plugin, self._name)
            if name is None:  # it was set aside
                raise unknown("tool", self._name)
            return self._catalog.tool(name, visit.caller, self._plugin)
        # A session's cookie signs nobody in here, so no other site's page can act for an admin.
        if not visit.local and not visit.caller.admin:
            raise ForAdmins(self._for_admins.key)
        return self._for_admins

    async def _count(self, item: Item, visit: Visit) -> Taken | None:
        """Count the request; says how many are left, where they are limited."""
        if self._rate is None or visit.local:  # a person on the portal's own machine
            return None
        try:
            return await self._limits.take(self._rate, visit.caller, visit.peer)
        except TooManyRequests as error:
            error.item = item.key
            raise

    def _call(
        self,
        item: Item,
        raw: Mapping[str, Any],
        visit: Visit,
        exchange: SilentExchange,
        run: Callable[[Any, Caller], Awaitable[Any]],
    ) -> Call:
        return Call(
            item=item,
            run=run,
            parse=lambda raw: parsed(self._route.params, raw),
            raw=raw,
            caller=visit.caller,
            surface=visit.surface("rest"),
            exchange=exchange,
            trace=visit.headers,
            kind="route" if self._route.admin else "",
        )

    async def _refuse(
        self,
        error: PortalError,
        visit: Visit,
        send: Send,
        headers: Headers = (),
        taken: Taken | None = None,
    ) -> None:
        kind = "route" if self._route.admin else "tool"
        at = Refused(visit.caller, kind, visit.surface("rest"), visit.request_id)
        self._pipeline.refused(error, self._name, at)
        sign_in = isinstance(error, NotAllowed | ForAdmins) and visit.caller.anonymous
        status = 401 if sign_in else error.status
        told = Refusal(status, error.code, error.message, visit.request_id, error.details)
        private = ((b"cache-control", _OWN), (b"vary", b"Authorization"))
        await self._dialect.refuse(send, told, (*headers, *private), taken)

    def _cache_headers(self, item: Item, visit: Visit) -> Headers:
        if self._route.admin or self._route.method != "GET":
            return ((b"cache-control", b"no-store"),)
        shared = visit.caller == ANONYMOUS and self._catalog.requires(item) is Tier.OPEN
        kind = SHARED if shared else _OWN
        return ((b"cache-control", kind), (b"vary", b"Authorization"))


def redacted(exchange: SilentExchange) -> Headers:
    """Says what was taken out of the parameters; no cache keeps an answer to a secret."""
    if not exchange.redactions:
        return ()
    name = HEADER.lower().encode()
    return ((name, header(exchange.redactions)), (b"cache-control", b"no-store"))


def _refusal(error: ToolFailed | BodyRefused | InternalError, request_id: str) -> Refusal:
    if isinstance(error, ToolFailed):
        status = 404 if error.code == "not_found" else 400
        return Refusal(status, error.code, error.message, request_id, error.details)
    if isinstance(error, BodyRefused):
        return Refusal(error.status, error.code, str(error), request_id)
    return Refusal(500, "internal_error", str(error), request_id)


def _render(value: BaseModel | Mapping[str, Any]) -> bytes:
    if isinstance(value, Mapping):  # a page of results
        return to_json(value, inf_nan_mode="null")
    return value.__pydantic_serializer__.to_json(value, by_alias=True, exclude_none=True)


async def send_cached(scope: Scope, send: Send, body: bytes, headers: Headers) -> None:
    """Send a body with its ETag, or 304 where the client has it already."""
    tag = b'"' + hashlib.sha256(body).hexdigest()[:32].encode() + b'"'
    headers = (*headers, (b"etag", tag))
    asked = visit_of(scope).headers.get("if-none-match", "")
    if any(each.strip().removeprefix("W/") in (tag.decode(), "*") for each in asked.split(",")):
        await send_json(send, b"", 304, headers)
        return
    await send_json(send, body, 200, headers)
