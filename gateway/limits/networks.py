"""Which network an address is in: whoever has one of its addresses easily has the others."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_network

IPV4_PREFIX, IPV6_PREFIX = 24, 56
"""Bits of what one provider's customer, or one small provider, is given as a rule."""


@lru_cache(maxsize=4096)
def network_of(peer: str) -> str:
    """The network of a peer.

    Args:
        peer: as :func:`gateway.surfaces.http.client_address.client_address` says it: an IPv4
            address, an IPv6 network of 64 bits, or a word.

    Returns:
        The IPv4 network of 24 bits or the IPv6 network of 56; a word as it is.
    """
    try:
        network = ip_network(peer)
    except ValueError:
        return peer
    prefix = IPV4_PREFIX if network.version == 4 else IPV6_PREFIX
    return str(network.supernet(new_prefix=prefix))
