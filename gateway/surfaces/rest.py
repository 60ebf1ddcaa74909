"""REST: plugins' routes under ``/api/v1``, with the same results as MCP by construction.

A route runs through the same catalog and pipeline as the tool whose tier it carries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Mount
from starlette.routing import Route as StarletteRoute
from starlette.types import Receive, Scope, Send

from auth import ANONYMOUS, Tier
from gateway.catalog import Catalog
from gateway.contract import Offer, Route, ToolFailed
from gateway.errors import NotAllowed, NotFound
from gateway.exchange import SilentExchange
from gateway.items import Item
from gateway.pipeline import Call, InternalError, Pipeline, Refused
from gateway.scrubbing.telling import HEADER, header
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
    expose_headers=["ETag", "X-Request-Id", HEADER],
    max_age=86_400,
)


def rest_mount(
    offers: Mapping[str, Offer],
    catalog: Catalog,
    pipeline: Pipeline,
    about: Mapping[str, str],
) -> Mount:
    """The routes of all plugins, and their OpenAPI document.

    Args:
        offers: the open plugins' offers, by name.
        catalog: the tier gate.
        pipeline: what every call passes.
        about: the portal's ``title``, ``version`` and ``url``, for the document.
    """
    described = list(_described(offers))
    routes = [
        StarletteRoute(
            each.path,
            endpoint=_Endpoint(each, catalog, pipeline),
            methods=["GET", "HEAD"],
        )
        for each in described
    ]
    openapi = _Document(described, about)
    routes.insert(0, StarletteRoute("/openapi.json", endpoint=openapi, methods=["GET", "HEAD"]))
    return Mount(PREFIX, routes=routes, middleware=[_CORS])


def _described(offers: Mapping[str, Offer]) -> Iterable[Described]:
    for plugin, offer in offers.items():
        for route in offer.routes:
            path = route.path if route.absolute else f"/{plugin}{route.path}"
            paged = any(tool.page for tool in offer.tools if tool.name == route.tool)
            yield Described(plugin, route, path, paged=paged)


class _Document:
    def __init__(self, described: list[Described], about: Mapping[str, str]) -> None:
        self._body = document(described, about, PREFIX)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = ((b"cache-control", _SHARED),)
        await _send_cached(scope, send, self._body, headers)


class _Endpoint:
    """One route as an ASGI application."""

    def __init__(self, described: Described, catalog: Catalog, pipeline: Pipeline) -> None:
        self._route: Route = described.route
        self._tool = described.route.tool
        self._catalog = catalog
        self._pipeline = pipeline

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        visit = visit_of(scope)
        exchange = SilentExchange(visit.request_id)
        try:
            item = self._catalog.tool(self._tool, visit.caller)
            body = await self._run(item, scope, visit, exchange)
        except (NotFound, NotAllowed) as error:
            await self._refuse(error, visit, send)
        except ToolFailed as failed:
            status = 404 if failed.code == "not_found" else 400
            await send_error(
                send,
                status,
                failed.code,
                failed.message,
                visit.request_id,
                details=failed.details,
                headers=_redacted(exchange),
            )
        except InternalError as error:
            hidden = (500, "internal_error", str(error), visit.request_id)
            await send_error(send, *hidden, headers=_redacted(exchange))
        else:
            headers = _redacted(exchange) or self._cache_headers(visit)
            await _send_cached(scope, send, body, headers)

    async def _run(self, item: Item, scope: Scope, visit: Visit, exchange: SilentExchange) -> bytes:
        query = _query(scope, self._route.params)
        call = Call(
            item=item,
            run=self._route.run,
            parse=lambda raw: _parse(self._route.params, raw),
            raw={**query, **scope.get("path_params", {})},
            caller=visit.caller,
            surface=visit.surface("rest"),
            exchange=exchange,
            trace=visit.headers,
        )
        return await self._pipeline.call(call, _render)

    async def _refuse(self, error: NotFound | NotAllowed, visit: Visit, send: Send) -> None:
        at = Refused(visit.caller, "tool", visit.surface("rest"), visit.request_id)
        self._pipeline.refused(error, self._tool, at)
        status = error.status
        challenge: Headers = ()
        if isinstance(error, NotAllowed) and visit.caller.anonymous:
            status, challenge = 401, ((b"www-authenticate", b"Bearer"),)
        await send_error(
            send,
            status,
            error.code,
            error.message,
            visit.request_id,
            details=error.details,
            headers=(*challenge, (b"cache-control", _OWN), (b"vary", b"Authorization")),
        )

    def _cache_headers(self, visit: Visit) -> Headers:
        item = self._catalog.tool(self._tool, visit.caller)
        shared = visit.caller == ANONYMOUS and self._catalog.requires(item) is Tier.OPEN
        kind = _SHARED if shared else _OWN
        return ((b"cache-control", kind), (b"vary", b"Authorization"))


def _redacted(exchange: SilentExchange) -> Headers:
    """Says what was taken out of the parameters; no cache keeps an answer to a secret."""
    if not exchange.redactions:
        return ()
    name = HEADER.lower().encode()
    return ((name, header(exchange.redactions)), (b"cache-control", b"no-store"))


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
