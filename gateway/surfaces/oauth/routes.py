"""The routes of OAuth. What needs the mcp SDK is imported at the first request, in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.config.addresses import (
    AUTHORIZATION_PATH,
    JWKS_PATH,
    METADATA_PATH,
    REGISTRATION_PATH,
    REVOCATION_PATH,
    SERVER_METADATA_PATH,
    TOKENS_PATH,
    is_mcp,
)
from gateway.surfaces.http.body import BodyRefused, ClientLeft, read_body
from gateway.surfaces.http.errors import NO_STORE, refusal
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.oauth.parameters import BadParameters, read_parameters, with_client
from gateway.surfaces.oauth.parts import OAuthSurface, too_often

if TYPE_CHECKING:
    from gateway.surfaces.oauth.server import Server

MAX_BODY_BYTES = 64 * 1024
"""Bytes of a request's body."""

_FORM = "application/x-www-form-urlencoded"
_METADATA_CACHE = {"Cache-Control": "public, max-age=300"}
_JWKS_CACHE = {"Cache-Control": "public, max-age=3600"}

Answer = Callable[[Request], Awaitable[Response]]


def oauth_routes(parts: OAuthSurface) -> list[Route]:
    """The routes of the authorization server and of both kinds of metadata."""
    endpoints = _Endpoints(parts)
    return [
        _shared(SERVER_METADATA_PATH + "{suffix:path}", "GET", endpoints.server_metadata),
        _shared(METADATA_PATH + "{suffix:path}", "GET", endpoints.resource_metadata),
        _shared(JWKS_PATH, "GET", endpoints.jwks),
        # No page of another origin has business with a person's browser here, so no CORS.
        Route(AUTHORIZATION_PATH, endpoints.authorize, methods=["GET", "POST"]),
        _shared(TOKENS_PATH, "POST", endpoints.token),
        _shared(REGISTRATION_PATH, "POST", endpoints.register),
        _shared(REVOCATION_PATH, "POST", endpoints.revoke),
    ]


def resources_of(plugins: Callable[[], Collection[str]]) -> Callable[[str], bool]:
    """Says whether tokens may be for a path below the base: the endpoints of MCP, and the base.

    Args:
        plugins: the names of the plugins that have an endpoint of their own.
    """

    def is_resource(path: str) -> bool:
        if not path:
            return True
        plugin = path.removeprefix("/mcp/")
        return is_mcp(path) and (plugin == path or plugin in plugins())

    return is_resource


def _shared(path: str, method: str, answer: Answer) -> Route:
    """A route that clients in browsers use as well (:mod:`gateway.surfaces.http.cors`)."""

    async def answered(request: Request) -> Response:
        if request.method == "OPTIONS":  # one that is no preflight
            return Response(status_code=204, headers={"Allow": f"{method}, OPTIONS"})
        return await answer(request)

    return Route(path, answered, methods=[method, "OPTIONS"])


class _Endpoints:
    def __init__(self, parts: OAuthSurface) -> None:
        self._parts = parts
        self._server: Server | None = None

    async def server_metadata(self, request: Request) -> Response:
        """RFC 8414; clients ask below the issuer's path, and some below the resource's too."""
        base = context_of(request.scope).base
        if self._resource(request, base) is None:
            return refusal("not_found", "There is no authorization server at this path.", 404)
        await self._ready()
        from gateway.surfaces.oauth.metadata import server_metadata

        document = server_metadata(base, self._parts.server.machines)
        return JSONResponse(document, headers=_METADATA_CACHE)

    async def resource_metadata(self, request: Request) -> Response:
        """RFC 9728, for the base and for every endpoint of MCP."""
        base = context_of(request.scope).base
        resource = self._resource(request, base)
        if resource is None:
            return refusal("not_found", "There is no protected resource at this path.", 404)
        await self._ready()
        from gateway.surfaces.oauth.metadata import resource_metadata

        document = resource_metadata(base, resource, self._parts.name)
        return JSONResponse(document, headers=_METADATA_CACHE)

    async def jwks(self, request: Request) -> Response:
        """The public keys of access tokens."""
        return JSONResponse(self._parts.keys.jwks(), headers=_JWKS_CACHE)

    async def authorize(self, request: Request) -> Response:
        """The authorization endpoint."""
        server = await self._ready()
        wait = self._parts.limits.authorize.allow(context_of(request.scope).peer)
        if wait is not None:
            text = f"There were too many requests from here. Try again in {wait:.0f} s."
            response = server.error_response(request, 429, "temporarily_unavailable", text)
            response.headers["Retry-After"] = too_often(wait).headers["Retry-After"]
            return response
        try:
            encoded = request.scope["query_string"]
            if request.method == "POST":
                encoded = await _form(request)
            parameters = read_parameters(encoded)
        except BadParameters as error:
            return server.error_response(request, 400, "invalid_request", str(error))
        except (BodyRefused, ClientLeft) as error:
            return _unread(error)
        return await server.authorize(request, parameters, context_of(request.scope).base)

    async def token(self, request: Request) -> Response:
        """The token endpoint. Who fails often is told to wait; who succeeds, never."""
        server = await self._ready()
        response = await self._posted(request, server.token)
        if response.status_code >= 400:
            wait = self._parts.limits.fail.allow(context_of(request.scope).peer)
            return response if wait is None else too_often(wait)
        return response

    async def revoke(self, request: Request) -> Response:
        """The revocation endpoint."""
        return await self._posted(request, (await self._ready()).revoke)

    async def register(self, request: Request) -> Response:
        """The registration endpoint."""
        context = context_of(request.scope)
        wait = self._parts.limits.register.allow(context.peer)
        if wait is not None:
            return too_often(wait)
        try:
            body = await read_body(request.receive, context.headers, MAX_BODY_BYTES)
        except (BodyRefused, ClientLeft) as error:
            return _unread(error)
        return await (await self._ready()).register(body)

    async def _posted(
        self,
        request: Request,
        answer: Callable[[Request, dict[str, str], str], Awaitable[Response]],
    ) -> Response:
        context = context_of(request.scope)
        try:
            parameters = read_parameters(await _form(request))
            parameters = with_client(parameters, context.headers.get("authorization"))
        except BadParameters as error:
            return refusal("invalid_request", str(error))
        except (BodyRefused, ClientLeft) as error:
            return _unread(error)
        # Every id that is an address may be a request of ours to somebody else.
        if self._parts.server.clients.must_fetch(parameters.get("client_id", "")):
            wait = self._parts.limits.authorize.allow(context.peer)
            if wait is not None:
                return too_often(wait)
        return await answer(request, parameters, context.base)

    def _resource(self, request: Request, base: str) -> str | None:
        """The resource that a well-known path names, as a URL; None for one there is not."""
        above = urlsplit(base).path
        # A proxy in front of a portal below a path may or may not have taken that path away.
        suffix = request.path_params["suffix"].removeprefix(above)
        path = suffix.removesuffix("/")
        return base + suffix if self._parts.server.is_resource(path) else None

    async def _ready(self) -> Server:
        if self._server is None:
            made = await asyncio.to_thread(_load)
            self._server = self._server or made(self._parts)
        return self._server


def _load() -> type[Server]:
    from gateway.surfaces.oauth import metadata  # noqa: F401
    from gateway.surfaces.oauth.server import Server

    return Server


async def _form(request: Request) -> bytes:
    headers = context_of(request.scope).headers
    if headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise BadParameters(f"Send the parameters as {_FORM}.")
    return await read_body(request.receive, headers, MAX_BODY_BYTES)


def _unread(error: BodyRefused | ClientLeft) -> Response:
    if isinstance(error, ClientLeft):
        return Response(status_code=400)
    headers = {name.decode(): value.decode() for name, value in error.headers}
    return refusal("invalid_request", str(error), error.status, {**NO_STORE, **headers})
