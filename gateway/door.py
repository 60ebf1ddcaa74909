"""The door: the first thing a request meets, whatever it wants.

It gives the request an id, turns away a foreign Host or Origin (DNS rebinding), and finds out
who is calling. Pure ASGI, so that it costs little and streams pass through it untouched.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth import Authenticator, BadCredential, Caller, Tier
from gateway.logs import request_id as current_request_id
from gateway.surfaces.errors import send_error
from gateway.surfaces.visit import Visit

_ANY_HOST = frozenset({"/healthz", "/readyz"})
_AS_TIER = "x-porch-as"


class Door:
    """Lets requests in.

    Args:
        app: what lies behind.
        authenticator: says who is calling.
        hosts: Host headers to accept; ``name:*`` stands for any port.
        origins: Origin headers to accept, written alike.
    """

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticator,
        hosts: Collection[str],
        origins: Collection[str],
    ) -> None:
        self._app = app
        self._authenticator = authenticator
        self._hosts = frozenset(map(str.lower, hosts))
        self._origins = frozenset(map(str.lower, origins))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        raw: list[tuple[bytes, bytes]] = scope["headers"]
        # RFC 9110, 5.5: white space around a value is no part of it.
        headers = {
            key.decode("latin-1"): value.decode("latin-1").strip(" \t") for key, value in raw
        }
        request_id = secrets.token_hex(8)
        current_request_id.set(request_id)
        send = _marked(send, request_id)
        local = scope.get("porch.local", False)
        if not local and (refusal := self._foreign(headers, scope["path"])):
            await send_error(send, refusal[0], "foreign_" + refusal[1], refusal[2], request_id)
            return
        try:
            caller = self._caller(headers, raw, local=local)
        except BadCredential as bad:
            challenge = (b"www-authenticate", b'Bearer error="invalid_token"')
            await send_error(
                send, 401, "invalid_token", bad.reason, request_id, headers=(challenge,)
            )
            return
        scope["porch.visit"] = Visit(caller, request_id, headers, raw, local)
        await self._app(scope, receive, send)

    def _foreign(self, headers: dict[str, str], path: str) -> tuple[int, str, str] | None:
        host = headers.get("host", "")
        if path not in _ANY_HOST and not _matches(host, self._hosts):
            return (
                421,
                "host",
                (
                    f"This portal does not answer to the host {quote(host[:100], safe=':[].')}. "
                    "Its admin sets public_url or allowed_hosts in portal.yaml."
                ),
            )
        origin = headers.get("origin")
        if (
            origin is not None
            and not self._reads_publicly(path)
            and (not _matches(origin, self._origins))
        ):
            return (
                403,
                "origin",
                (
                    "Pages of this origin may not use the portal. Its admin sets allowed_origins "
                    "in portal.yaml."
                ),
            )
        return None

    def _reads_publicly(self, path: str) -> bool:
        # The REST API is readable from any page, without credentials (CORS says so there).
        return path.startswith("/api/v1/")

    def _caller(
        self, headers: dict[str, str], raw: list[tuple[bytes, bytes]], *, local: bool
    ) -> Caller:
        as_tier = headers.get(_AS_TIER)
        if local and as_tier in set(Tier):
            why = "The portal's own user asked to act at this tier, over the local socket."
            return Caller(person="local", tier=Tier(as_tier), reasons=(why,), admin=True)
        return self._authenticator.caller(raw)


def _matches(value: str, allowed: frozenset[str]) -> bool:
    value = value.lower()
    if value in allowed:
        return True
    name, _, port = value.rpartition(":")
    return port.isdigit() and f"{name}:*" in allowed


def _marked(send: Send, request_id: str) -> Send:
    header = (b"x-request-id", request_id.encode())

    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), header]
        await send(message)

    return marked
