"""Opens the plugins that were found beside each other, and closes them in reverse.

What goes wrong with one plugin is its own affair: the others are served, and health says why.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.offer_diff import changes
from gateway.catalog.rows import CatalogRows
from gateway.config.portal import Portal
from gateway.contract import Absent, Change, Host, Offer, Plugin, Vault
from gateway.contract.people import NOBODY, People
from gateway.observability.health import HealthBoard
from gateway.observability.logs import get_logger
from gateway.pipeline.client_models import ClientModels
from gateway.pipeline.exchange import current_exchange
from gateway.plugin_discovery import Found
from gateway.plugin_lifecycle import Opening, absent
from gateway.scrubbing.contents import ContentScrub
from gateway.services import Services, Shares
from gateway.services.secrets import resolve
from gateway.work.agent_work import AgentWork

OPEN_TIMEOUT_SECONDS = 20.0
"""Seconds after which a plugin counts as late, unless its first work is waited for."""

log = get_logger(__name__)


def _in_this_process(plugin: Plugin) -> Plugin:
    return plugin


class PluginHost:
    """Opens and closes the plugins of one portal.

    Args:
        portal: the configuration.
        found: what discovery found.
        services: the backends.
        catalog: takes in what plugins offer.
        board: is told how each plugin is.
        people: whom callers may know of.
        isolate: makes a plugin one that runs in a process of its own; raises ``ConfigError``.

    Attributes:
        offers: what the open plugins offer, by name; one that opens late comes in while it is read.
        opened_late: called where a plugin has opened after the portal has, for what was made of
            the offers there were.
        work: takes in the work that plugins have for agents; None where nobody is to do any.
    """

    def __init__(
        self,
        portal: Portal,
        found: Found,
        services: Services,
        catalog: Catalog,
        board: HealthBoard,
        people: People = NOBODY,
        isolate: Callable[[Plugin], Plugin] = _in_this_process,
    ) -> None:
        self._portal = portal
        self._found = found
        self._services = services
        self._catalog = catalog
        self._board = board
        self._people = people
        self._isolate = isolate
        self.work: AgentWork | None = None
        self.offers: dict[str, Offer] = {}
        self.opened_late: Callable[[], None] = lambda: None
        self._openings: list[Opening] = []
        self._is_open = False

    def closed(self) -> list[str]:
        """The plugins that were found and are not open: switched off, or failed."""
        return sorted(self._found.plugins.keys() - self.offers.keys())

    def absent(self) -> list[Absent]:
        """The plugins that should be open and are not, as what callers miss."""
        states = ((name, self._board.unopened(name)) for name in self.closed())
        return [absent(name, health) for name, health in states if health is not None]

    def declared(self, name: str) -> Plugin:
        """What a plugin that was found declares."""
        return self._found.plugins[name]

    @asynccontextmanager
    async def opened(
        self, changed: Any, *, wait: bool = True, wait_ready: bool = False, retries: bool = True
    ) -> AsyncGenerator[None]:
        """Open every enabled plugin beside the others; the end of the block closes them in reverse.

        One that takes long or fails holds up nobody: it is served once it has opened.

        Args:
            changed: called with each :class:`~gateway.contract.Change` a plugin tells of.
            wait: whether the block begins when all are open, late or failed, or at once.
            wait_ready: handed on in ``Host.wait_ready``.
            retries: whether one that fails is tried again; never where ``wait_ready``.
        """
        for broken in self._found.broken:
            self._board.expect(broken.name, required=False)
            self._board.failed(broken.name, broken.reason)
            log.warning("plugin_broken", plugin=broken.name, exc_info=broken.error)
        self._catalog.expect(self._found.plugins)
        again = retries and not wait_ready
        self._is_open = not wait
        try:
            for name, plugin in self._found.plugins.items():
                if self._portal.section(name).enabled:
                    self._board.expect(name, self._portal.section(name).required)
                    served = partial(self._served, plugin, changed, wait_ready)
                    late_after = None if wait_ready else OPEN_TIMEOUT_SECONDS
                    self._openings.append(
                        Opening(name, served, self._board, late_after=late_after, retries=again)
                    )
            if wait:
                await self.tried()
            self._is_open = True
            yield
        finally:
            for opening in reversed(self._openings):
                await opening.close()

    async def tried(self) -> None:
        """Wait until each plugin is open, has failed once or is late; it goes on behind."""
        await asyncio.gather(*(each.tried() for each in self._openings))

    @asynccontextmanager
    async def _served(self, plugin: Plugin, changed: Any, wait_ready: bool) -> AsyncGenerator[None]:
        """Open a plugin and serve what it offers, for as long as the block lasts."""
        name, section = plugin.name, self._portal.section(plugin.name)
        config = self._portal.plugin_config(name, plugin.config)
        if section.isolation == "process":
            plugin = self._isolate(plugin)
        host = self.host(name, changed, wait_ready=wait_ready)
        async with _guarded(plugin, config, host) as offer:
            if self.work is not None:
                offer = self.work.opened(name, offer)
            self._services.register_jobs(name, offer.jobs)
            self._catalog.add(name, offer, section.alias)
            self._offer(name, offer)
            if self._is_open:
                await self._come_late(name, changed)
            self._board.opened(name, offer.health)
            yield

    def _offer(self, name: str, offer: Offer) -> None:
        """Put an offer among the others, which stand in the order of the plugins' names."""
        offers = {**self.offers, name: offer}
        self.offers.clear()
        self.offers.update(sorted(offers.items()))

    async def _come_late(self, name: str, changed: Any) -> None:
        """Let those take a plugin in who have looked at what is open already."""
        log.info("plugin_opened", plugin=name)
        try:
            await self._services.jobs.take_up(name)
        except Exception:  # the rest of it can be served all the same
            log.exception("jobs_not_taken_up", plugin=name)
        self.opened_late()
        for change in changes(name, (), self._items(name)):
            changed(change)

    def host(self, name: str, changed: Any = None, *, wait_ready: bool = False) -> Host:
        """A plugin's own share of the portal.

        Args:
            name: the plugin's name.
            changed: called with each change it tells of; by default nobody listens.
            wait_ready: as in ``Host.wait_ready``.
        """
        notify = changed or _nobody_listens
        made = make_host(
            self._services.for_plugin(name),
            name,
            self._portal.config.name,
            notify,
            lambda offer: self._reoffer(name, offer, notify),
            root=self._portal.root,
            wait_ready=wait_ready,
        )
        scrubbing = self._portal.config.scrubbing
        scrub = ContentScrub(name, scrubbing.enabled, scrubbing.allow, scrubbing.as_is)
        rows = CatalogRows(self._catalog, name)
        models = made.models
        if self._portal.config.services.models.clients:
            models = ClientModels(models, current_exchange, scrub)
        return replace(
            made,
            models=models,
            people=self._people,
            url=self._portal.config.url,
            local=self._portal.config.is_local,
            rows=rows,
            scrub=scrub,
            vault=Vault(self._services.signing_key, name),
            work=made.work if self.work is None else self.work.for_plugin(name, scrub),
        )

    def _reoffer(self, name: str, offer: Offer, changed: Callable[[Change], None]) -> None:
        """Serve another offer of a plugin that is open, and tell clients of what it changes."""
        if name not in self.offers:  # it is opening still, and yields its offer in a moment
            return
        shown = {each: getattr(offer, each) for each in LISTED}
        self.offers[name] = replace(self.offers[name], **shown)
        before = self._items(name)
        self._catalog.add(name, self.offers[name], self._portal.section(name).alias)
        for change in changes(name, before, self._items(name)):
            changed(change)

    def _items(self, name: str) -> list[Item]:
        return [item for item in self._catalog.items() if item.plugin == name]


LISTED = (
    "tools",
    "prompts",
    "prompt_families",
    "resources",
    "templates",
    "skills",
    "views",
    "instructions",
    "said",
)
"""What of an offer may change while its plugin is open."""


def _nobody_listens(change: Change) -> None:
    return None


def _nobody_serves(offer: Offer) -> None:
    return None


def make_host(
    shares: Shares,
    plugin: str,
    portal: str,
    changed: Callable[[Change], None] = _nobody_listens,
    reoffer: Callable[[Offer], None] = _nobody_serves,
    *,
    root: Path = Path(),
    wait_ready: bool = False,
) -> Host:
    """A plugin's host from its shares of the services.

    Args:
        shares: the plugin's shares.
        plugin: the plugin's name.
        portal: the portal's name, for texts.
        changed: called with each change the plugin tells of.
        reoffer: called with each offer that replaces the one before.
        root: where the relative path of a ``file:`` reference starts.
        wait_ready: as in ``Host.wait_ready``.
    """
    return Host(
        plugin=plugin,
        portal=portal,
        data_dir=shares.data_dir,
        database=shares.database,
        vectors=shares.vectors,
        objects=shares.objects,
        cache=shares.cache,
        jobs=shares.jobs,
        embedder=shares.embedder,
        reranker=shares.reranker,
        other_model=shares.other_model,
        log=get_logger(f"plugin.{plugin}").bind(plugin=plugin),
        changed=changed,
        reoffer=reoffer,
        secret=lambda reference: resolve(reference, root).get_secret_value(),
        exchange=current_exchange,
        people=NOBODY,
        models=shares.models,
        wait_ready=wait_ready,
    )


@asynccontextmanager
async def _guarded(plugin: Plugin, config: Any, host: Host) -> AsyncGenerator[Offer]:
    """Open a plugin so that what it raises while closing does not stop the others' closing."""
    manager = plugin.open(config, host)
    offer = await manager.__aenter__()
    try:
        if not isinstance(offer, Offer):
            raise TypeError("open() must yield a gateway.contract.Offer")
        yield offer
    finally:
        try:
            await manager.__aexit__(None, None, None)
        except Exception:
            log.exception("plugin_not_closed", plugin=plugin.name)
