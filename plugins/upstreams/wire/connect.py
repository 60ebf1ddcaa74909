"""Makes connections: the transport is tried, and the era found out."""

from __future__ import annotations

from mcp_types.version import LATEST_MODERN_VERSION

from plugins.upstreams.wire.connection import Address, Child, Client, Connection, Era, Told
from plugins.upstreams.wire.errors import (
    HttpRefused,
    NotMcp,
    RpcError,
    TimedOut,
    WireError,
)
from plugins.upstreams.wire.http import Channel
from plugins.upstreams.wire.limits import Limits
from plugins.upstreams.wire.peer import Peer
from plugins.upstreams.wire.revisions import Legacy, Modern
from plugins.upstreams.wire.sse import HttpSse
from plugins.upstreams.wire.stdio import Stdio
from plugins.upstreams.wire.streamable import StreamableHttp
from plugins.upstreams.wire.transport import Transport

_UNSUPPORTED_VERSION = -32022
DEFAULT_LIMITS = Limits()


async def connect_http(
    address: Address,
    client: Client,
    *,
    told: Told | None = None,
    era: Era | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Connection:
    """Connect over Streamable HTTP, or over HTTP+SSE where the server is that old.

    Args:
        address: where the server is.
        client: what we are to it.
        told: hears what it says outside of requests; without it, it is not listened to.
        era: what it spoke the last time, which is tried first. The one found is on the connection.
        limits: of time and size.

    Raises:
        WireError: there is no connection.
    """
    try:
        transport = StreamableHttp(await Channel.open(address, limits))
        return await _connected(transport, client, told, era, limits)
    except HttpRefused as refused:
        if refused.may_have_run:
            raise
        # As the specification's backwards compatibility has it: perhaps only GET is known there.
        try:
            return await connect_sse(address, client, told=told, limits=limits)
        except WireError:
            raise refused from None


async def connect_sse(
    address: Address,
    client: Client,
    *,
    told: Told | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Connection:
    """Connect over HTTP+SSE of 2024-11-05; see :func:`connect_http`.

    Raises:
        WireError: there is no connection.
    """
    transport = HttpSse(await Channel.open(address, limits))
    return await _connected(transport, client, told, "legacy", limits, only=True)


async def spawn(
    child: Child,
    client: Client,
    *,
    told: Told | None = None,
    era: Era | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Connection:
    """Start a child and connect over its stdio; see :func:`connect_http`.

    The child ends with the connection, and with the portal however that ends.

    Raises:
        WireError: it cannot be started, ended at once, or does not speak MCP.
    """
    return await _connected(Stdio(child, limits), client, told, era, limits)


async def _connected(
    transport: Transport,
    client: Client,
    told: Told | None,
    era: Era | None,
    limits: Limits,
    *,
    only: bool = False,
) -> Peer:
    peer = Peer(transport, told, limits)
    try:
        await peer.begin()
        await _agree(peer, client, era, limits, only=only)
        await peer.listen()
    except BaseException:
        await peer.close()
        raise
    return peer


async def _agree(
    peer: Peer, client: Client, era: Era | None, limits: Limits, *, only: bool
) -> None:
    """Open the connection in the era that the server speaks; the one remembered is tried first."""
    modern, legacy = Modern(client), Legacy(client)
    first, second = (legacy, modern) if era == "legacy" else (modern, legacy)
    # An old server may never answer a method that it does not know; a good one may start slowly.
    seconds = limits.probe_s if first is modern else limits.total_s
    try:
        return await peer.agree(first, seconds)
    except (HttpRefused, RpcError, NotMcp, TimedOut) as error:
        if only:
            raise
        if first is modern and _takes_modern(error):
            return await peer.agree(modern, limits.total_s)
        refused = error
    try:
        await peer.agree(second, limits.total_s)
    except (HttpRefused, RpcError, NotMcp) as error:
        if isinstance(refused, TimedOut) and _is_modern(error):
            # It started slowly, and by now has taken the first question for the opening.
            return await peer.agree(modern, limits.total_s)
        raise _telling(refused, error, legacy_first=first is legacy) from None


def _takes_modern(error: WireError) -> bool:
    """Whether a server that refuses a revision names ours among those that it takes."""
    if not isinstance(error, RpcError) or not isinstance(error.data, dict):
        return False
    supported = error.data.get("supported")
    named = isinstance(supported, list) and LATEST_MODERN_VERSION in supported
    return _is_modern(error) and named


def _is_modern(error: WireError) -> bool:
    return isinstance(error, RpcError) and error.code == _UNSUPPORTED_VERSION


def _telling(first: WireError, second: WireError, *, legacy_first: bool) -> WireError:
    """The error that says more, of a server that speaks neither era with us."""
    of_modern, of_legacy = (second, first) if legacy_first else (first, second)
    if _is_modern(of_modern):
        return NotMcp("The server speaks only revisions of MCP that the portal does not know.")
    return of_legacy
