"""Who a request comes from, where nobody has said who they are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

LOCAL = "local"
"""The peer of what comes in over the local socket: the portal's own user."""
UNKNOWN = "unknown"
"""The one peer of everything whose address cannot be read, such as what a proxy made up."""


def client_address(scope: Mapping[str, Any]) -> str:
    """Who an anonymous request comes from, as far as an address says that.

    The address is that of the connection. uvicorn has replaced it by the one in
    ``X-Forwarded-For`` where the connection is from a proxy of ``trusted_proxies``, taking the
    last address that is no such proxy's: what stands before it anyone can have written.

    Args:
        scope: the ASGI scope.

    Returns:
        An IPv4 address; the /64 network of an IPv6 address, which is what one household or one
        server gets; ``local``; or ``unknown``.
    """
    client = scope.get("client")
    if scope.get("porch.local") or client is None:
        return LOCAL
    return _peer(str(client[0])[:100])


@lru_cache(maxsize=1024)
def _peer(host: str) -> str:
    try:
        ip = ip_address(host)
    except ValueError:
        return UNKNOWN
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is None:
            return str(IPv6Network((int(ip), 64), strict=False))
        ip = ip.ipv4_mapped
    return str(ip)
