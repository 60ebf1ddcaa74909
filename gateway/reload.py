"""A file that is saved is in force: tiers.yaml whole, portal.yaml as far as plugins take it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from gateway.config.portal import Portal
from gateway.config.portal_file import PortalFile
from gateway.config.portal_keys import PluginSection
from gateway.config.tiers_file import Tiers
from gateway.contract import Change
from gateway.errors import ConfigError, Problem
from gateway.observability.logs import get_logger
from gateway.open_portal import OpenPortal
from gateway.toolkit.background import background

_RESTART = "has changed; restart the portal to put it in force"

log = get_logger(__name__)


@asynccontextmanager
async def files_followed(running: OpenPortal) -> AsyncGenerator[None]:
    """Follow the files for as long as the block lasts, and tell clients of what changes."""

    def apply(tiers: Tiers) -> None:
        running.catalog.apply(tiers.items)
        running.authentication.resolver.apply(tiers.access)
        running.authentication.followers.apply(tiers.access)
        running.approvals.rules_changed()
        for kind in ("tools", "prompts", "resources"):
            running.changes.publish(Change("gateway", kind))

    portal_file, sections = PortalFile(running.portal), Sections(running)
    running.board.notices(lambda: map(str, portal_file.problems))
    watched = (running.tiers.watch(apply), running.budgets.file.watch(lambda _: None))
    async with background(*watched, portal_file.watch(sections.take)):
        yield


class Sections:
    """The plugins' sections in force.

    Args:
        running: the open portal.
    """

    def __init__(self, running: OpenPortal) -> None:
        self._plugins = running.plugins
        self._in_force = dict(running.portal.config.plugins)

    async def take(self, portal: Portal) -> Sequence[Problem]:
        """Put the sections of a new file in force, each by itself.

        Returns:
            What is wrong with a section, which goes on as it was, or waits for a restart.
        """
        problems: list[Problem] = []
        for name in {**self._in_force, **portal.config.plugins}:
            if self._in_force.get(name) != portal.config.plugins.get(name):
                problems += await self._taken(name, portal)
        return problems

    async def _taken(self, name: str, portal: Portal) -> Sequence[Problem]:
        before, now = self._section(name), portal.section(name)
        offer = self._plugins.offers.get(name)
        if offer is None or offer.configure is None or _hosts_own(before) != _hosts_own(now):
            return [portal.source.problem(("plugins", name), _RESTART)]
        try:
            config = portal.plugin_config(name, self._plugins.declared(name).config)
            await offer.configure(config)
        except ConfigError as error:
            return error.problems
        except Exception as error:
            log.exception("plugin_not_configured", plugin=name)
            return [portal.source.problem(("plugins", name), f"is not in force: {error}")]
        self._in_force[name] = now
        return ()

    def _section(self, name: str) -> PluginSection:
        return self._in_force.get(name) or PluginSection.model_validate({})


def _hosts_own(section: PluginSection) -> dict[str, object]:
    """What of a section is the gateway's: only a restart puts it in force."""
    return {name: getattr(section, name) for name in PluginSection.model_fields}
