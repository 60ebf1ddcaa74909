"""``/mcp`` and ``/mcp/<plugin>``: receives a request, and hands it to its era's leg."""

from __future__ import annotations

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import Receive, Scope, Send

from auth import Tier
from gateway.catalog.catalog import Catalog
from gateway.config.addresses import MEMBERS_PATH
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http.body import BodyRefused, ClientLeft, read_body
from gateway.surfaces.http.challenges import bearer_challenge
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.http.responses import Headers, send_json
from gateway.surfaces.http.upstream_credentials import Upstreams
from gateway.surfaces.mcp.envelope import INVALID_REQUEST, WireError, parse
from gateway.surfaces.mcp.legacy import SESSION, Legacy
from gateway.surfaces.mcp.modern import Modern

_VERSION = "mcp-protocol-version"
_LEGACY = frozenset({None, *HANDSHAKE_PROTOCOL_VERSIONS})
_JSON = "application/json"
_SIGN_IN = "Sign in to use this address; /mcp also takes callers who have not."


class Endpoint:
    """The ASGI application of the MCP endpoint.

    Args:
        modern: serves 2026-07-28.
        legacy: serves the revisions before it.
        catalog: knows which plugins there are, and what a caller may use.
        upstreams: takes in callers' credentials for the plugins' upstreams.
        limit: bytes that a body may have.
    """

    def __init__(
        self,
        modern: Modern,
        legacy: Legacy,
        catalog: Catalog,
        upstreams: Upstreams,
        limit: int,
    ) -> None:
        self._modern = modern
        self._legacy = legacy
        self._catalog = catalog
        self._upstreams = upstreams
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        context = context_of(scope)
        if scope["method"] == "GET" and "text/html" in context.headers.get("accept", ""):
            # Somebody pasted the address into a browser; the first page says what it is for.
            return await send_json(send, b"", 303, ((b"location", f"{context.base}/".encode()),))
        return await self._serve(context, scope, receive, send)

    async def _serve(
        self, context: CallContext, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if context.only is not None and context.only not in self._catalog.plugins():
            return await _refuse(send, 404, f"There is no plugin {context.only!r} here.")
        if needed := self._unauthorized(context):
            return await _refuse(send, 401, *needed)
        method = scope["method"]
        legacy = context.headers.get(_VERSION) in _LEGACY
        if method == "POST":
            return await self._post(legacy, context, receive, send)
        if not legacy or SESSION not in context.headers or method not in ("GET", "DELETE"):
            return await send_json(send, b"", 405, ((b"allow", b"POST"),))
        if method == "GET":
            return await self._legacy.open_stream(context, receive, send)
        return await self._legacy.end(context, send)

    def _unauthorized(self, context: CallContext) -> tuple[str, Headers] | None:
        """What a request to this address must bring, where it brings nothing of the kind."""
        if context.path == MEMBERS_PATH and context.caller.anonymous:
            # Clients that begin OAuth only when they connect begin it here.
            return _SIGN_IN, (bearer_challenge(context.base, context.path, scope=Tier.MEMBERS),)
        if header := self._upstreams.lacks(context):
            lacking = f"Send `Authorization: Bearer TOKEN`, or the header {header}."
            return lacking, (bearer_challenge(context.base, context.path),)
        return None

    async def _post(self, legacy: bool, context: CallContext, receive: Receive, send: Send) -> None:
        if problem := _unacceptable(context.headers):
            return await _refuse(send, *problem)
        try:
            message = parse(await read_body(receive, context.headers, self._limit))
        except ClientLeft:
            return None
        except BodyRefused as error:
            return await _refuse(send, error.status, str(error), error.headers)
        except WireError as error:
            return await send_json(send, error.body(None), error.status)
        leg = self._legacy if legacy else self._modern
        return await leg.serve(message, context, receive, send)


def _unacceptable(headers: dict[str, str]) -> tuple[int, str] | None:
    kind = headers.get("content-type", "")
    if kind != _JSON and kind.partition(";")[0].strip().lower() != _JSON:
        return 415, "Send the body as application/json."
    accept = headers.get("accept", "*/*")
    if not (_JSON in accept or "*/*" in accept or "application/*" in accept):
        return 406, "Accept application/json and text/event-stream."
    return None


async def _refuse(send: Send, status: int, message: str, headers: Headers = ()) -> None:
    body = WireError(INVALID_REQUEST, message).body(None)
    await send_json(send, body, status, headers)
