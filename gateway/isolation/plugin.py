"""A plugin in a process of its own, which is started again where it ends."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gateway.config.portal import Portal
from gateway.config.yaml_source import YamlSource
from gateway.contract import Health, Host, Offer, Plugin, ToolFailed
from gateway.errors import ConfigError
from gateway.isolation.offered import offered
from gateway.isolation.process import PluginProcess, Refused, ended
from gateway.isolation.setup import Setup
from gateway.observability.logs import get_logger
from gateway.plugin_discovery import Found
from gateway.toolkit.background import background
from gateway.toolkit.retry import backoff

FIRST_RESTART_SECONDS, MAX_RESTART_SECONDS = 0.5, 60.0
"""Seconds until a process that ended is started again: at first, and at most."""
STEADY_SECONDS = 60.0
"""Seconds after which a process counts as steady, so that the pauses begin anew where it ends; one
that is away for as long counts as failed."""
BUSY_SECONDS = 1.0
"""Seconds in which a process says how it is, unless it computes."""
HANG_SECONDS = 60.0
"""Seconds for which a process may compute without a turn for others; then it is ended."""
_PING_SECONDS = 5.0

log = get_logger(__name__)


class Isolation:
    """Makes plugins that run in the portal such that run in processes of their own.

    Args:
        portal: the configuration.
        found: the plugins, and where their modules are.
        data_dir: where the embedded services keep their data.
    """

    def __init__(self, portal: Portal, found: Found, data_dir: Path) -> None:
        self._portal = portal
        self._found = found
        self._data_dir = data_dir

    def __call__(self, plugin: Plugin) -> Plugin:
        """The plugin, opened in a process of its own.

        Raises:
            ConfigError: it cannot run there.
        """
        module = self._found.sources.get(plugin.name, "")
        if plugin.in_portal:
            raise self._refused(plugin.name, plugin.in_portal)
        if not module or importlib.util.find_spec(module.partition(":")[0]) is None:
            raise self._refused(plugin.name, "comes from no module that can be imported by name")
        if self._found.hears(plugin.name):
            raise self._refused(plugin.name, "hears of changes (porch_changed)")

        @asynccontextmanager
        async def opened(config: Any, host: Host) -> AsyncGenerator[Offer]:
            isolated = IsolatedPlugin(self._setup(plugin.name, module, host), host)
            try:
                async with isolated.opened() as offer:
                    yield offer
            except Refused as error:
                raise self._refused(plugin.name, str(error)) from None

        return replace(plugin, open=opened)

    def _setup(self, name: str, module: str, host: Host) -> Setup:
        empty = YamlSource(self._portal.source.file, {}, None)
        portal = replace(self._portal, source=empty, overrides={})
        level = logging.getLevelName(logging.getLogger().getEffectiveLevel()).lower()
        return Setup(name, module, portal, self._data_dir.absolute(), host.wait_ready, level)

    def _refused(self, name: str, reason: str) -> ConfigError:
        text = f"cannot be process, for the plugin {reason}; leave the key out"
        return ConfigError([self._portal.source.problem(("plugins", name, "isolation"), text)])


class IsolatedPlugin:
    """Keeps a plugin's process running.

    Args:
        setup: what it is started with.
        host: the plugin's share of the portal.
    """

    def __init__(self, setup: Setup, host: Host) -> None:
        self._setup = setup
        self._host = host
        self._process: PluginProcess | None = None
        self._away_since: float | None = None
        self._why = ""
        self._starts = 0
        self._again_in = FIRST_RESTART_SECONDS

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[Offer]:
        """Run the process for as long as the block lasts.

        Raises:
            Refused: the plugin cannot run there.
            RuntimeError: it does not open.
        """
        process = PluginProcess(self._setup, self._host)
        try:
            told = await process.opened()
        except BaseException:
            await process.close()
            raise
        self._serve(process)
        try:
            async with background(self._kept()):
                yield self._offer(told)
        finally:
            if self._process is not None:
                await self._process.close()

    def _offer(self, told: Mapping[str, Any]) -> Offer:
        return offered(told, self._call, self._health)

    def _serve(self, process: PluginProcess) -> None:
        process.reoffered = lambda told: self._host.reoffer(self._offer(told))
        self._process, self._away_since = process, None
        self._starts += 1

    async def _call(self, what: tuple[str, ...], *args: Any) -> Any:
        if self._process is None:
            failed = ended(self._host.plugin, self._why)
            failed.details["retry_after_seconds"] = self._again_in
            raise failed
        return await self._process.call(what, *args)

    async def _kept(self) -> None:
        """Start the process again whenever it has ended."""
        pauses = backoff(FIRST_RESTART_SECONDS, MAX_RESTART_SECONDS)
        while (process := self._process) is not None:
            started = time.monotonic()
            await _ended(process)
            if time.monotonic() - started > STEADY_SECONDS:
                pauses = backoff(FIRST_RESTART_SECONDS, MAX_RESTART_SECONDS)
            self._process, self._why = None, process.reason
            self._away_since = time.time()
            log.error("plugin_process_ended", plugin=self._host.plugin, reason=process.reason)
            for self._again_in in pauses:
                await asyncio.sleep(self._again_in)
                if await self._started_again():
                    break

    async def _started_again(self) -> bool:
        process = PluginProcess(self._setup, self._host)
        try:
            told = await process.opened()
        except (Refused, RuntimeError, OSError) as error:
            self._why = f"ended, and does not open again: {error}"
            log.error("plugin_process_not_started", plugin=self._host.plugin, reason=str(error))
            await process.close()
            return False
        except BaseException:
            await process.close()
            raise
        self._serve(process)
        self._host.reoffer(self._offer(told))
        log.info("plugin_process_started", plugin=self._host.plugin)
        return True

    async def _health(self) -> Health:
        """How the plugin says it is, or why its process cannot say so."""
        facts = {"process_starts": self._starts}
        if self._process is None:
            return self._away(facts)
        try:
            async with asyncio.timeout(BUSY_SECONDS):
                health: Health = await self._process.call(("health",))
        except TimeoutError:
            return Health("degraded", "Its process computes, and does not say how it is.", facts)
        except ToolFailed:  # it has ended in this moment
            return Health("degraded", f"Its process has {self._process.reason}.", facts)
        return replace(health, facts={**health.facts, **facts})

    def _away(self, facts: Mapping[str, Any]) -> Health:
        since = self._away_since or time.time()
        at = datetime.fromtimestamp(since, UTC).isoformat(timespec="seconds")
        state = "degraded" if time.time() - since < STEADY_SECONDS else "failed"
        text = f"Its process has {self._why}, at {at}. It is started again."
        return Health(state, text, facts)  # type: ignore[arg-type]


async def _ended(process: PluginProcess) -> None:
    """Wait until a process has ended; one that hangs is ended."""
    while not process.ended.is_set():
        try:
            async with asyncio.timeout(HANG_SECONDS):
                await process.ping()
        except TimeoutError:
            log.error("plugin_process_hangs", plugin=process.plugin, seconds=HANG_SECONDS)
            process.kill()
        except ToolFailed:
            pass
        await _within(process.ended, _PING_SECONDS)
    await process.ended.wait()


async def _within(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
