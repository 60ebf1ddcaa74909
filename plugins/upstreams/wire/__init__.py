"""One connection to one other MCP server: JSON-RPC in and out, over HTTP or a child's stdio.

:func:`connect_http`, :func:`connect_sse` and :func:`spawn` give a :class:`Connection`, of either
era of MCP: 2026-07-28, where each request stands alone, and the revisions before it, which begin
with a handshake. What a server says crosses as JSON values, and whatever it does wrong is one of
the errors of :mod:`~plugins.upstreams.wire.errors`.
"""

from plugins.upstreams.wire.connect import connect_http, connect_sse, spawn
from plugins.upstreams.wire.connection import (
    GAP,
    MAX_WATCHED,
    NO_HEADERS,
    Address,
    Back,
    Child,
    Client,
    Connection,
    Era,
    HeaderSource,
    ServerInfo,
    Told,
)
from plugins.upstreams.wire.errors import (
    ChildEnded,
    ConnectionLost,
    HttpRefused,
    NoCredential,
    NotMcp,
    RedirectRefused,
    RpcError,
    SessionExpired,
    TimedOut,
    TooLarge,
    Unauthorized,
    Unreachable,
    WireError,
)
from plugins.upstreams.wire.limits import Limits

__all__ = [
    "GAP",
    "MAX_WATCHED",
    "NO_HEADERS",
    "Address",
    "Back",
    "Child",
    "ChildEnded",
    "Client",
    "Connection",
    "ConnectionLost",
    "Era",
    "HeaderSource",
    "HttpRefused",
    "Limits",
    "NoCredential",
    "NotMcp",
    "RedirectRefused",
    "RpcError",
    "ServerInfo",
    "SessionExpired",
    "TimedOut",
    "Told",
    "TooLarge",
    "Unauthorized",
    "Unreachable",
    "WireError",
    "connect_http",
    "connect_sse",
    "spawn",
]
