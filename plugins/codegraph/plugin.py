"""The codegraph plugin: repositories of code as a graph that agents query."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.contract import Host, Offer, Plugin, hookimpl
from plugins.codegraph.commands.onboard import ONBOARD
from plugins.codegraph.commands.repositories import ADD, HEALTH, INDEX, JUSTIFY, LIST, REMOVE
from plugins.codegraph.config import CodegraphConfig


@hookimpl
def porch_plugin() -> Plugin:
    """Declare the plugin."""
    return Plugin(
        name="codegraph",
        summary="Repositories of code as a graph: who calls what, what a change breaks.",
        config=CodegraphConfig,
        open=open_codegraph,
        commands=(ADD, INDEX, JUSTIFY, LIST, HEALTH, REMOVE, ONBOARD),
        in_portal="runs jobs",
    )


@asynccontextmanager
async def open_codegraph(config: CodegraphConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve the graphs of the repositories, and keep them up to date.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
    """
    # Imported late, because these need the database driver, which commands start without.
    from plugins.codegraph.offer import opened

    async with opened(config, host) as offer:
        yield offer
