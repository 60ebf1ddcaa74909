"""The upstreams plugin: the MCP servers of others, behind the portal's one URL."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.contract import Host, Offer, Plugin, hookimpl
from gateway.toolkit.background import background
from plugins.upstreams.check import check
from plugins.upstreams.commands import ACCEPT, REJECT, REVIEW, STATUS
from plugins.upstreams.config import UpstreamsConfig


@hookimpl
def porch_plugin() -> Plugin:
    """Declare the plugin."""
    return Plugin(
        name="upstreams",
        summary="The MCP servers of others, behind the portal's one URL.",
        config=UpstreamsConfig,
        open=open_upstreams,
        check=check,
        commands=(STATUS, REVIEW, ACCEPT, REJECT),
    )


@asynccontextmanager
async def open_upstreams(config: UpstreamsConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve what the servers offered last, and keep asking them what they offer."""
    # Late, because it needs the database driver and the wire, and commands start without.
    from plugins.upstreams.upstreams import Upstreams

    upstreams = Upstreams(host)
    await upstreams.open(config)
    try:
        async with background(upstreams.follow_reviews(), upstreams.follow_connections()):
            yield upstreams.offer()
    finally:
        await upstreams.close()
