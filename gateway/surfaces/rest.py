"""REST: plugins' routes under ``/api/v1``, with the same results as MCP by construction.

A route runs through the same catalog and pipeline as the tool whose tier it carries.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Mount
from starlette.routing import Route as StarletteRoute
from starlette.types import Receive, Scope, Send

from auth import ANONYMOUS, Tier
from gateway.catalog import Catalog
from gateway.catalog_messages import unknown
from gateway.contract import Offer, Route, Tool, ToolFailed
from gateway.errors import ForAdmins, NotAllowed, NotFound, PortalError
from gateway.exchange import SilentExchange
from gateway.items import Item
from gateway.pipeline import Call, InternalError, Pipeline, Refused
from gateway.route_limits import RouteLimits, TooManyRequests, headers_of
from gateway.scrubbing.telling import HEADER, header
from gateway.surfaces.body import BodyRefused, ClientLeft, read_body
from gateway.surfaces.errors import send_error
from gateway.surfaces.openapi import Described, document
from gateway.surfaces.responses import Headers, send_json
from gateway.surfaces.visit import Visit, visit_of

PREFIX = "/api/v1"

_SHARED = b"public, max-age=300, stale-while-revalidate=3600"
_OWN = b"private, no-cache"
_CORS = Middleware(
    CORSMiddleware,
    allow_origins=["*"],
    allow_methods=["GET", "HEAD", "OPTIONS"],
    allow_headers=["Authorization", "If-None-Match"],
    expose_headers=["ETag", "X-Request-Id", "RateLimit", "RateLimit-Policy", "Retry-After", HEADER],
    max_age=86_400,
)


def rest_mount(
    offers: Mapping[str, Offer],
    catalog: Catalog,
    pipeline: Pipeline,
    about: Mapping[str, str],
    limit: int,
    limits: RouteLimits,
) -> Mount:
    """The routes of all plugins, and their OpenAPI document.

    Args:
        offers: the open plugins' offers, by name.
        catalog: the tier gate.
        pipeline: what every call passes.
        about: the portal's ``title``, ``version`` and ``url``, for the document.
        limit: bytes that a body may have.
        limits: counts the requests of each caller.
    """
    described = [
        replace(each, rate=limits.rate(each.operation, each.route.rate))
        for each in described_routes(offers)
    ]
    routes = [
        StarletteRoute(
            each.path,
            endpoint=_Endpoint(each, catalog, pipeline, limit, limits),
            methods=["GET", "HEAD"] if each.route.method == "GET" else [each.route.method],
        )
        for each in described
    ]
    openapi = _Document(described, about)
    routes.insert(0, StarletteRoute("/openapi.json", endpoint=openapi, methods=["GET", "HEAD"]))
    return Mount(PREFIX, routes=routes, middleware=[_CORS])


def described_routes(offers: Mapping[str, Offer]) -> Iterator[Described]:
    """The routes of all plugins, as they are without a limit."""
    for plugin, offer in offers.items():
        for route in offer.routes:
            path = route.path if route.absolute else f"/{plugin}{route.path}"
            paged = any(tool.page for tool in offer.tools if tool.name == route.tool)
            yield Described(plugin, route, path, paged=paged)


class _Document:
    """The document; written when it is first asked for, so that no start waits for it."""

    def __init__(self, described: list[Described], about: Mapping[str, str]) -> None:
        self._described = described
        self._about = about

    @cached_property
    def _body(self) -> bytes:
        return document(self._described, self._about, PREFIX)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await asyncio.to_thread(lambda: self._body)
        await _send_cached(scope, send, body, ((b"cache-control", _SHARED),))


class _Endpoint:
    """One route as an ASGI application."""

    def __init__(
        self,
        described: Described,
        catalog: Catalog,
        pipeline: Pipeline,
        limit: int,
        limits: RouteLimits,
    ) -> None:
        self._route: Route = described.route
        self._name = described.route.tool or f"{described.route.method} {described.path}"
        self._plugin = described.plugin
        self._catalog = catalog
        self._pipeline = pipeline
        self._limit = limit
        self._rate = described.rate
        self._limits = limits
        declared = Tool(self._name, self._route.summary, self._route.run)
        self._for_admins = Item(self._plugin, "tool", self._name, declared, {}, dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        visit = visit_of(scope)
        exchange = SilentExchange(visit.request_id)
        left: Headers = ()
        try:
            item = self._item(visit)
            left = await self._count(item, visit)
            given = await self._given(scope, receive, visit)
            body = await self._run(item, given, visit, exchange)
        except ClientLeft:
            return
        except TooManyRequests as error:
            await self._refuse(error, visit, send, error.headers)
        except (NotFound, NotAllowed, ForAdmins) as error:
            await self._refuse(error, visit, send)
        except (ToolFailed, BodyRefused, InternalError) as error:
            await _fail(send, error, visit.request_id, (*left, *_redacted(exchange)))
        else:
            headers = (*left, *(_redacted(exchange) or self._cache_headers(item, visit)))
            if self._route.method == "GET":
                await _send_cached(scope, send, body, headers)
            else:
                await send_json(send, body, 200, headers)

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

    async def _count(self, item: Item, visit: Visit) -> Headers:
        """Count the request; gives the headers that say how many are left."""
        if self._rate is None or visit.local:  # a person on the portal's own machine
            return ()
        try:
            return headers_of(await self._limits.take(self._rate, visit.caller, visit.peer))
        except TooManyRequests as error:
            error.item = item.key
            raise

    async def _given(self, scope: Scope, receive: Receive, visit: Visit) -> dict[str, Any]:
        """The raw parameters; what stands in the path wins."""
        if self._route.method == "POST":
            given = _object(await read_body(receive, visit.headers, self._limit), visit.headers)
        else:
            given = _query(scope, self._route.params)
        return {**given, **scope.get("path_params", {})}

    async def _run(
        self, item: Item, given: Mapping[str, Any], visit: Visit, exchange: SilentExchange
    ) -> bytes:
        call = Call(
            item=item,
            run=self._route.run,
            parse=lambda raw: _parse(self._route.params, raw),
            raw=given,
            caller=visit.caller,
            surface=visit.surface("rest"),
            exchange=exchange,
            trace=visit.headers,
            kind="route" if self._route.admin else "",
        )
        return await self._pipeline.call(call, _render)

    async def _refuse(
        self, error: PortalError, visit: Visit, send: Send, headers: Headers = ()
    ) -> None:
        kind = "route" if self._route.admin else "tool"
        at = Refused(visit.caller, kind, visit.surface("rest"), visit.request_id)
        self._pipeline.refused(error, self._name, at)
        status = error.status
        challenge: Headers = ()
        if isinstance(error, NotAllowed | ForAdmins) and visit.caller.anonymous:
            status, challenge = 401, ((b"www-authenticate", b"Bearer"),)
        await send_error(
            send,
            status,
            error.code,
            error.message,
            visit.request_id,
            details=error.details,
            headers=(*headers, *challenge, (b"cache-control", _OWN), (b"vary", b"Authorization")),
        )

    def _cache_headers(self, item: Item, visit: Visit) -> Headers:
        if self._route.admin or self._route.method != "GET":
            return ((b"cache-control", b"no-store"),)
        shared = visit.caller == ANONYMOUS and self._catalog.requires(item) is Tier.OPEN
        kind = _SHARED if shared else _OWN
        return ((b"cache-control", kind), (b"vary", b"Authorization"))


def _redacted(exchange: SilentExchange) -> Headers:
    """Says what was taken out of the parameters; no cache keeps an answer to a secret."""
    if not exchange.redactions:
        return ()
    name = HEADER.lower().encode()
    return ((name, header(exchange.redactions)), (b"cache-control", b"no-store"))


class _NotJson(BodyRefused):
    status = 415
    code = "not_json"


def _object(body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """The JSON object of a body; an empty body is an empty one."""
    if not body:
        return {}
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise _NotJson("The body is to be JSON: send Content-Type: application/json.")
    try:
        value = from_json(body)
    except ValueError as error:
        raise ToolFailed("invalid_json", f"The body is no JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ToolFailed("invalid_json", "The body is to be a JSON object.")
    return value


async def _fail(
    send: Send, error: ToolFailed | BodyRefused | InternalError, request_id: str, headers: Headers
) -> None:
    if isinstance(error, ToolFailed):
        status = 404 if error.code == "not_found" else 400
        told = (status, error.code, error.message, request_id)
        await send_error(send, *told, details=error.details, headers=headers)
    elif isinstance(error, BodyRefused):
        told = (error.status, error.code, str(error), request_id)
        await send_error(send, *told, headers=(*headers, *error.headers))
    else:
        hidden = (500, "internal_error", str(error), request_id)
        await send_error(send, *hidden, headers=headers)


def _query(scope: Scope, params: type[BaseModel]) -> dict[str, Any]:
    """The query string as raw values: a field that holds a list takes repeated keys."""
    from starlette.datastructures import QueryParams

    given = QueryParams(scope["query_string"])
    raw: dict[str, Any] = {}
    for name in given:
        values = given.getlist(name)
        raw[name] = values if len(values) > 1 or _is_list(params, name) else values[0]
    return raw


def _is_list(params: type[BaseModel], name: str) -> bool:
    for key, field in params.model_fields.items():
        if name in (key, field.alias):
            return any(word in str(field.annotation) for word in ("list", "tuple"))
    return False


def _parse(model: type[BaseModel], raw: Mapping[str, Any]) -> Any:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        errors = [
            {"parameter": ".".join(map(str, each["loc"])), "reason": each["msg"]}
            for each in error.errors(include_url=False, include_input=False)
        ]
        lines = "; ".join(f"{each['parameter']}: {each['reason']}" for each in errors[:5])
        raise ToolFailed(
            "invalid_parameters", f"Invalid parameters. {lines}", {"errors": errors}
        ) from None


def _render(value: BaseModel | Mapping[str, Any]) -> bytes:
    if isinstance(value, Mapping):  # a page of results
        return to_json(value, inf_nan_mode="null")
    return value.__pydantic_serializer__.to_json(value, by_alias=True, exclude_none=True)


async def _send_cached(scope: Scope, send: Send, body: bytes, headers: Headers) -> None:
    tag = b'"' + hashlib.sha256(body).hexdigest()[:32].encode() + b'"'
    headers = (*headers, (b"etag", tag))
    asked = visit_of(scope).headers.get("if-none-match", "")
    if any(each.strip().removeprefix("W/") in (tag.decode(), "*") for each in asked.split(",")):
        await send_json(send, b"", 304, headers)
        return
    await send_json(send, body, 200, headers)
