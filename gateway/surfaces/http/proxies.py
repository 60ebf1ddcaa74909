"""Notices a proxy that nobody has told the portal of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from auth.portal_addresses import LOOPBACK
from gateway.config.portal_keys import PortalConfig
from gateway.observability.logs import get_logger

NOTICE = (
    "Requests come in with X-Forwarded-For or Forwarded from a peer that is not one of "
    "trusted_proxies in portal.yaml. If that is a proxy before this portal, write its address "
    "there: until then all who come through it count as one peer and share one peer's limits, "
    "such as 60 attempts to sign in a minute. If there is no proxy, somebody makes the header up, "
    "and nothing is believed of it."
)
_FORWARDED = frozenset({b"x-forwarded-for", b"forwarded"})

log = get_logger(__name__)


class UnknownProxies:
    """Looks at requests until it has seen one by a proxy that is not trusted.

    Args:
        config: says where the portal is, and which proxies it trusts.
    """

    def __init__(self, config: PortalConfig) -> None:
        # What is reached on this machine alone has no proxy whose absence would be felt.
        self._looking = urlsplit(config.url).hostname not in LOOPBACK
        self._trusts_some = bool(config.trusted_proxies)
        self._seen = False

    def look(self, scope: Mapping[str, Any]) -> None:
        """Look at a request, whose values are neither kept nor shown."""
        if not self._looking or scope["type"] != "http" or scope.get("porch.local"):
            return
        forwarded = [value for name, value in scope["headers"] if name in _FORWARDED]
        if forwarded and not self._is_trusted(scope, forwarded):
            self._looking, self._seen = False, True
            log.warning("unknown_proxy", what=NOTICE)

    def notices(self) -> Iterator[str]:
        """What the admin should know."""
        if self._seen:
            yield NOTICE

    def _is_trusted(self, scope: Mapping[str, Any], forwarded: list[bytes]) -> bool:
        """Whether uvicorn believed the header: then the peer is one of the addresses in it."""
        client = scope.get("client")
        if not self._trusts_some or client is None:
            return False
        return any(str(client[0]).encode() in value for value in forwarded)
