"""REST: plugins' routes under ``/api/v1``, and the APIs of specifications under their own paths.

A route runs through the same catalog and pipeline as the tool whose tier it carries, so that its
results are those of MCP by construction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from starlette.routing import BaseRoute, Match, Mount, WebSocketRoute
from starlette.routing import Route as StarletteRoute
from starlette.types import Receive, Scope, Send

from gateway.catalog.catalog import Catalog
from gateway.config.addresses import API_PATH
from gateway.contract import Api, Offer, Refusal, Route
from gateway.limits.route_limits import RouteLimits
from gateway.pipeline.pipeline import Pipeline
from gateway.surfaces.http.error_formats import PLAIN, ErrorFormat, error_format_of
from gateway.surfaces.http.open_streams import OpenStreams
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.rest.endpoint import SHARED, Endpoint, send_cached
from gateway.surfaces.rest.openapi import Described, Document, document
from gateway.surfaces.rest.streams import StreamEndpoint


def described_routes(offers: Mapping[str, Offer]) -> Iterator[Described]:
    """The routes of all plugins, as they are without a limit; each of an API once."""
    for plugin, offer in offers.items():
        for route in offer.routes:
            path = route.path if route.absolute else f"/{plugin}{route.path}"
            yield _described(plugin, offer, route, path)
        for api in offer.apis:
            for route in api.routes:
                path = api.prefixes[0] + route.path
                yield replace(_described(plugin, offer, route, path), api=api)
            for stream in api.streams:
                route, path = stream.route(), api.prefixes[0] + stream.path
                yield replace(_described(plugin, offer, route, path), api=api, stream=stream)


def _described(plugin: str, offer: Offer, route: Route, path: str) -> Described:
    tool = next((each for each in offer.tools if each.name == route.tool), None)
    if tool is None:
        return Described(plugin, route, path)
    return Described(plugin, route, path, paged=tool.page is not None, floor=tool.floor)


@dataclass(frozen=True, slots=True)
class Rest:
    """Makes the routes that answer.

    Attributes:
        described: the routes of the open plugins, as :func:`described_routes` has them.
        offers: the open plugins' offers, by name.
        catalog: the tier gate.
        pipeline: what every call passes.
        about: the portal's own document, as a whole.
        limit: bytes that a body may have.
        limits: counts the requests of each caller.
        streams: the streams that are open.
    """

    described: Sequence[Described]
    offers: Mapping[str, Offer]
    catalog: Catalog
    pipeline: Pipeline
    about: Document
    limit: int
    limits: RouteLimits
    streams: OpenStreams

    def routes(self) -> list[BaseRoute]:
        """The APIs of specifications, and all else below :data:`API_PATH`."""
        described = [
            replace(each, rate=self.limits.rate(each.operation, each.route.rate))
            for each in self.described
        ]
        plain = [each for each in described if each.api is None]
        info = replace(self.about, below=API_PATH)
        under: list[BaseRoute] = [_openapi("", plain, info)]
        under += [self._route(each, PLAIN) for each in plain]
        beside: list[BaseRoute] = []
        for api in (api for offer in self.offers.values() for api in offer.apis):
            own = [each for each in described if each.api is api]
            for prefix in api.prefixes:
                # What other routes a plugin has below an alias goes before the alias.
                inside = prefix.startswith(API_PATH + "/")
                (under if inside else beside).extend(self._served(api, own, prefix, inside=inside))
        return [*beside, Mount(API_PATH, routes=under)]

    def _served(
        self, api: Api, own: Sequence[Described], prefix: str, *, inside: bool
    ) -> Iterator[StarletteRoute | WebSocketRoute]:
        dialect = error_format_of(api)
        at = prefix.removeprefix(API_PATH) if inside else prefix
        paths = [replace(each, path=prefix + each.route.path) for each in own]
        info = Document(api.title, api.version, self.about.base, api=api)
        served = [replace(each, path=at + each.route.path) for each in own]
        made = [self._route(each, dialect) for each in served]
        made.insert(0, _openapi(at, paths, info))
        fixed = [each for each in made if not each.param_convertors]
        yield from fixed
        for path in dict.fromkeys(each.path for each in fixed):
            # A path with a name of its own is no other's variable, whatever the method.
            yield StarletteRoute(path, endpoint=_Lost(fixed, dialect))
        yield from (each for each in made if each not in fixed)
        for each in made:
            if isinstance(each.endpoint, StreamEndpoint):
                yield WebSocketRoute(each.path, endpoint=each.endpoint)
        for path in (at, at + "/{rest:path}"):
            lost = _Lost(made, dialect)
            yield StarletteRoute(path, endpoint=lost)

    def _route(self, each: Described, dialect: ErrorFormat) -> StarletteRoute:
        parts = (each, dialect, self.catalog, self.pipeline, self.limit, self.limits)
        endpoint = Endpoint(*parts)
        if each.stream is not None:
            endpoint = StreamEndpoint(each.stream, self.streams, *parts)
        methods = ["GET", "HEAD"] if each.route.method == "GET" else [each.route.method]
        return StarletteRoute(each.path, endpoint=endpoint, methods=methods)


def _openapi(at: str, described: Sequence[Described], info: Document) -> StarletteRoute:
    endpoint = _Written(described, info)
    methods = ["GET", "HEAD"]
    return StarletteRoute(f"{at}/openapi.json", endpoint=endpoint, methods=methods)


class _Written:
    """A document; written when it is first asked for, so that no start waits for it."""

    def __init__(self, described: Sequence[Described], info: Document) -> None:
        self._described = described
        self._info = info

    @cached_property
    def _body(self) -> bytes:
        return document(self._described, self._info)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await asyncio.to_thread(lambda: self._body)
        await send_cached(scope, send, body, ((b"cache-control", SHARED),))


class _Lost:
    """Answers for an API what none of its endpoints does."""

    def __init__(self, routes: Sequence[StarletteRoute], dialect: ErrorFormat) -> None:
        self._routes = routes
        self._dialect = dialect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        there = [each for each in self._routes if each.matches(scope)[0] is not Match.NONE]
        methods = sorted({method for each in there for method in each.methods or ()})
        asked, context = f"{scope['method']} {scope['path']}", context_of(scope)
        if methods:
            text = f"This path takes {', '.join(methods)} and nothing else: {asked}"
            refusal = Refusal(405, "method_not_allowed", text, context.request_id)
            allowed = [(b"allow", ", ".join(methods).encode())]
        else:
            refusal = Refusal(
                404, "not_found", f"There is no such path: {asked}", context.request_id
            )
            allowed = []
        await self._dialect.refuse(send, refusal, tuple(allowed))
