"""``/mcp`` and ``/mcp/<plugin>``: receives a request, and hands it to its era's leg."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import Receive, Scope, Send

from auth import Tier
from gateway.catalog import Catalog
from gateway.errors import NotAllowed, NotFound
from gateway.surfaces.body import BodyRefused, ClientLeft, read_body
from gateway.surfaces.challenges import MEMBERS_PATH, bearer_challenge
from gateway.surfaces.mcp.envelope import INVALID_REQUEST, WireError, parse
from gateway.surfaces.mcp.legacy import SESSION, Legacy
from gateway.surfaces.mcp.modern import Modern
from gateway.surfaces.responses import Headers, send_json
from gateway.surfaces.visit import Visit, visit_of
from gateway.upstream import Upstreams

_VERSION = "mcp-protocol-version"
_LEGACY = frozenset({None, *HANDSHAKE_PROTOCOL_VERSIONS})
_SIGN_IN = "Sign in to use this address; /mcp also takes callers who have not."
_ASKED = {
    "tools/call": ("tool", "name"),
    "prompts/get": ("prompt", "name"),
    "resources/read": ("resource", "uri"),
    "skills/get": ("skill", "uri"),
    "resources/directory/read": ("directory", "uri"),
}
"""How the catalog is asked for what a method names, and the parameter that names it."""


class Endpoint:
    """The ASGI application of the MCP endpoint.

    Args:
        modern: serves 2026-07-28.
        legacy: serves the revisions before it.
        catalog: knows which plugins there are, and what a caller may use.
        upstreams: takes in callers' credentials for the plugins' upstreams.
        limit: bytes that a body may have.
        challenging: whether a call above the caller's tier is answered with an HTTP challenge
            rather than with a sentence.
    """

    def __init__(
        self,
        modern: Modern,
        legacy: Legacy,
        catalog: Catalog,
        upstreams: Upstreams,
        limit: int,
        *,
        challenging: bool,
    ) -> None:
        self._modern = modern
        self._legacy = legacy
        self._catalog = catalog
        self._upstreams = upstreams
        self._limit = limit
        self._challenging = challenging

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        visit = visit_of(scope)
        if scope["method"] == "GET" and "text/html" in visit.headers.get("accept", ""):
            # Somebody pasted the address into a browser; the first page says what it is for.
            return await send_json(send, b"", 303, ((b"location", f"{visit.base}/".encode()),))
        return await self._serve(visit, scope, receive, send)

    async def _serve(self, visit: Visit, scope: Scope, receive: Receive, send: Send) -> None:
        if plugin := scope.get("path_params", {}).get("plugin"):
            if plugin not in self._catalog.plugins():
                return await _refuse(send, 404, f"There is no plugin {plugin!r} here.")
            visit = replace(visit, only=plugin)
        if needed := self._unauthorized(visit, scope["path"]):
            return await _refuse(send, 401, *needed)
        if brought := self._upstreams.brought(visit):
            visit = replace(visit, upstream=brought)
        method = scope["method"]
        legacy = visit.headers.get(_VERSION) in _LEGACY
        if method == "POST":
            return await self._post(legacy, visit, scope["path"], receive, send)
        if not legacy or SESSION not in visit.headers or method not in ("GET", "DELETE"):
            return await send_json(send, b"", 405, ((b"allow", b"POST"),))
        if method == "GET":
            return await self._legacy.open_stream(visit, receive, send)
        return await self._legacy.end(visit, send)

    def _unauthorized(self, visit: Visit, path: str) -> tuple[str, Headers] | None:
        """What a request to this address must bring, where it brings nothing of the kind."""
        if path == MEMBERS_PATH and visit.caller.anonymous:
            # Clients that begin OAuth only when they connect begin it here.
            return _SIGN_IN, (bearer_challenge(visit.base, path, scope=Tier.MEMBERS),)
        if header := self._upstreams.lacks(visit):
            lacking = f"Send `Authorization: Bearer TOKEN`, or the header {header}."
            return lacking, (bearer_challenge(visit.base, path),)
        return None

    async def _post(
        self, legacy: bool, visit: Visit, path: str, receive: Receive, send: Send
    ) -> None:
        if problem := _unacceptable(visit.headers):
            return await _refuse(send, *problem)
        try:
            message = parse(await read_body(receive, visit.headers, self._limit))
        except ClientLeft:
            return None
        except BodyRefused as error:
            return await _refuse(send, error.status, str(error), error.headers)
        except WireError as error:
            return await send_json(send, error.body(None), error.status)
        if self._challenging and (above := self._above(message, visit)):
            return await _challenge(send, above, message, visit, path)
        leg = self._legacy if legacy else self._modern
        return await leg.serve(message, visit, receive, send)

    def _above(self, message: Mapping[str, Any], visit: Visit) -> NotAllowed | None:
        """The refusal that a better token would lift; None for every other message."""
        asked = _ASKED.get(str(message.get("method")))
        params = message.get("params")
        name = params.get(asked[1]) if asked and isinstance(params, Mapping) else None
        if asked is None or not isinstance(name, str):
            return None
        try:
            getattr(self._catalog, asked[0])(name, visit.caller, visit.only)
        except NotAllowed as refusal:
            caller = visit.caller
            narrow = caller.signed_in and not caller.ceiling.allows(refusal.required)
            liftable = caller.anonymous or narrow
            return refusal if liftable else None
        except NotFound:
            pass
        return None


async def _challenge(
    send: Send, above: NotAllowed, message: Mapping[str, Any], visit: Visit, path: str
) -> None:
    """Answer 401 to a stranger, and 403 to a token whose scope is too narrow (RFC 6750, 3.1)."""
    anonymous = visit.caller.anonymous
    error = None if anonymous else "insufficient_scope"
    challenge = bearer_challenge(visit.base, path, error=error, scope=above.required)
    body = WireError(INVALID_REQUEST, above.message, above.details).body(message.get("id"))
    await send_json(send, body, 401 if anonymous else 403, (challenge,))


def _unacceptable(headers: dict[str, str]) -> tuple[int, str] | None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return 415, "Send the body as application/json."
    accept = headers.get("accept", "*/*")
    if not ("*/*" in accept or "application/*" in accept or "application/json" in accept):
        return 406, "Accept application/json and text/event-stream."
    return None


async def _refuse(send: Send, status: int, message: str, headers: Headers = ()) -> None:
    body = WireError(INVALID_REQUEST, message).body(None)
    await send_json(send, body, status, headers)
