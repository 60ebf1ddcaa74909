"""How a server is reached: by its address, or as a program that is started."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any, cast

from plugins.upstreams.config import Server
from plugins.upstreams.credential_settings import variables_of
from plugins.upstreams.credentials.credential import with_variables
from plugins.upstreams.wire import (
    Address,
    Child,
    Client,
    Connection,
    Era,
    HeaderSource,
    Limits,
    Told,
    connect_http,
    spawn,
)

Said = Callable[[str], None]
"""Is given each line that a program writes to its standard error."""
Reach = Callable[[Server, str, HeaderSource, Told, Said], Awaitable[Connection]]
"""``await reach(server, era, headers, told, said)``: a connection that is ready for requests.

``era`` is that which the server spoke last, or nothing. Raises a ``WireError`` where it cannot be
reached.
"""

ASKABLE: Mapping[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {},
    "roots": {},
}
"""What a server may ask: the caller's client is, and says no where it cannot be."""


def target_of(server: Server) -> str:
    """Tells where a server is: what is kept of one is no other's, whatever its name."""
    where = server.url or json.dumps([server.command, str(server.directory or "")])
    return hashlib.sha256(where.encode()).hexdigest()


async def reach(
    server: Server, era: str, headers: HeaderSource, told: Told, said: Said
) -> Connection:
    """Connect to a server of ``portal.yaml`` (:data:`Reach`)."""
    client = Client({"name": "porch", "version": version("porch")}, ASKABLE)
    size = int(server.max_result)
    limits = Limits(message_bytes=size, reply_bytes=size)
    if server.url is not None:
        address = Address(server.url, headers)
        before = cast(Era, era) if era else None
        return await connect_http(address, client, told=told, limits=limits, era=before)
    child = Child(server.command or (), _environment(server), server.directory, said)
    return await spawn(child, client, told=told, limits=limits)


def _environment(server: Server) -> dict[str, str]:
    """What a program finds in its environment.

    A program is sent no headers, and has its credentials from there (MCP, "Authorization"): so it
    finds the variables that a header of its credential names.

    Raises:
        Unreachable: the portal's own lacks one of them.
    """
    header = (server.credential and server.credential.header) or {}
    named = {name for text in header.values() for name in variables_of(text)}
    return with_variables({**{name: f"${{{name}}}" for name in named}, **server.env})
