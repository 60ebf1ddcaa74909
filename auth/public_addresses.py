"""Which IP addresses are of the public internet, for requests that strangers make (SSRF)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

# Python's is_global knows IANA's registries, but counts addresses that embed IPv4 ones as global.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = (
    ip_network("192.0.0.0/24"),  # protocol assignments
    ip_network("192.88.99.0/24"),  # 6to4 relays, retired
    ip_network("2001::/23"),  # protocol assignments, Teredo among them
    ip_network("2002::/16"),  # 6to4
    ip_network("3fff::/20"),  # documentation
)


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and ip in _NAT64:
        ip = IPv4Address(ip.packed[-4:])
    if isinstance(ip, IPv6Address) and ip not in _GLOBAL_UNICAST:
        return False
    special = ip.is_multicast or ip.is_reserved or any(ip in network for network in _NOT_PUBLIC)
    return ip.is_global and not special
