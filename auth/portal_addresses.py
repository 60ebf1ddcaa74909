"""The portal's own addresses: its base, its resources, and which of them a token is good for."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import urlsplit

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""The hosts that lead to this very machine, as ``urlsplit`` names them."""
LOOPBACK_HOST = r"(?:127\.0\.0\.1|localhost|\[::1\])"
"""A regular expression of the same hosts, as an address writes them."""

_LOCAL = re.compile(rf"{LOOPBACK_HOST}(?::\d{{1,5}})?", re.ASCII | re.IGNORECASE)
_START = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#]*)(.*)", re.ASCII | re.IGNORECASE | re.DOTALL)


def is_safe(url: str) -> bool:
    """Whether an address is https, or plain http on this machine."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    return (parts.scheme == "https" and bool(host)) or (parts.scheme == "http" and host in LOOPBACK)


class Site:
    """Where the portal is reached.

    A local portal answers to every loopback name, at whatever port it got, so its base is the
    address that the client used. Any other portal has one base, whatever a request says.

    Args:
        url: the portal's address, without a slash at the end.
        local: whether nobody but this machine is meant to reach it.
        doors: several paths below the base that lead to the same resource.
    """

    def __init__(self, url: str, *, local: bool, doors: Collection[str] = ()) -> None:
        self.url = url
        self._local = local
        self._doors = frozenset(doors)

    @property
    def secure(self) -> bool:
        """Whether the portal is reached by https, so that cookies can demand it."""
        return self.url.startswith("https://")

    def base(self, host: str) -> str:
        """The base address as the sender of a Host header sees it; no slash at the end."""
        return (_at_host(self.url, host) if self._local else None) or self.url

    def is_base(self, address: str) -> bool:
        """Whether an address, an issuer for example, is the portal's base."""
        return self.resource_path(address) == ""

    def accepts(self, audience: str, path: str) -> bool:
        """Whether a token for an audience is good at a path of the portal.

        A token for the base is good everywhere; one for a longer path only there (RFC 8707), and
        at the other doors of what is there.

        Args:
            audience: the token's audience, a URL.
            path: the path of the request below the base, such as ``/mcp/knowledge``.
        """
        below = self.resource_path(audience)
        return below is not None and (not below or self._alike(below, path.rstrip("/")))

    def same(self, resource: str, other: str) -> bool:
        """Whether two addresses are those of one resource of the portal."""
        one, two = self.resource_path(resource), self.resource_path(other)
        return one is not None and two is not None and self._alike(one, two)

    def _alike(self, path: str, other: str) -> bool:
        return path == other or {path, other} <= self._doors

    def resource_path(self, resource: str) -> str | None:
        """The path of an address below the base, empty for the base, or None for a foreign one.

        Scheme and host compare without regard to case (RFC 3986, section 6.2.2.1), and a slash
        at the end does not count. An address with a query or fragment is nobody's.
        """
        parts = _START.fullmatch(resource)
        if parts is None or "?" in resource or "#" in resource:
            return None
        address = f"{parts[1]}://{parts[2]}".lower() + parts[3].rstrip("/")
        base = _lower_host(self.base(parts[2]))
        below = address.removeprefix(base)
        return below if address == base or (below != address and below[0] == "/") else None


@lru_cache(maxsize=256)
def _at_host(address: str, host: str) -> str | None:
    """An address of this machine by another of its names; None where it is no such name."""
    if not _LOCAL.fullmatch(host):
        return None
    url = urlsplit(address)
    return f"{url.scheme}://{host.lower()}{url.path}"


def _lower_host(url: str) -> str:
    parts = _START.fullmatch(url)
    return url if parts is None else f"{parts[1]}://{parts[2]}".lower() + parts[3]
