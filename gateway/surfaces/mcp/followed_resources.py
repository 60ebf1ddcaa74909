"""Which resources the clients of this process follow, told to the plugins whose they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from auth import Caller
from gateway.catalog.catalog import Catalog
from gateway.contract import Offer
from gateway.errors import PortalError
from gateway.observability.logs import get_logger

SETTLE_SECONDS = 0.05
"""Seconds for which more followers are waited for before plugins are told."""
RECHECK_SECONDS = 30.0
"""Seconds after which it is looked again whether followers have left without a word."""

Followed = Callable[[], Iterable[tuple[str, Caller]]]
"""Gives the resources that clients follow now, and as whom."""

log = get_logger(__name__)


class Followers:
    """Tells plugins which of their resources are followed (``Offer.follow``).

    Args:
        catalog: says whose a resource is, and who may read it.
        offers: what the open plugins offer, by name.
        followed: who follows what; it is asked anew each time, so that nobody has to be counted.
    """

    def __init__(self, catalog: Catalog, offers: Mapping[str, Offer], followed: Followed) -> None:
        self._catalog = catalog
        self._offers = offers
        self._followed = followed
        self._told: dict[str, tuple[object, Mapping[str, str]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def changed(self) -> None:
        """Somebody follows something new, or no more: look soon."""
        if any(offer.follow for offer in self._offers.values()):
            self._look_in(SETTLE_SECONDS)

    def _look_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        found = self._by_plugin()
        for plugin, offer in self._offers.items():
            if offer.follow is None:
                continue
            before, now = self._told.get(plugin), found.get(plugin, {})
            if before == (offer.follow, now) or (before is None and not now):
                continue
            self._told[plugin] = offer.follow, now
            try:
                offer.follow(now)
            except Exception:
                log.exception("followers_not_told", plugin=plugin)
        if found:
            self._look_in(RECHECK_SECONDS)

    def _by_plugin(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        known: set[str] = set()
        for uri, caller in self._followed():
            if uri in known:
                continue
            try:
                item, _ = self._catalog.resource(uri, caller)
            except PortalError:  # the tiers have changed, or it is gone
                continue
            known.add(uri)
            found.setdefault(item.plugin, {})[uri] = item.identity
        return found
