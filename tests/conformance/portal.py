"""Serves the "everything" plugin on a free port, until it is told to stop.

Run as ``python portal.py DIRECTORY``; it writes the port to ``DIRECTORY/port``. ``--legacy`` hides
the newer era. ``--before URL`` serves no plugin but ``upstreams``, before another such portal,
whose tools and prompts it calls as they are called there.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import anyio
import uvloop
from mcp import Client

from gateway.app import PortalApp
from gateway.config.portal import load_portal
from gateway.observability import logs, telemetry
from gateway.server.data_directory import held
from gateway.server.server import serve
from gateway.surfaces.mcp import reply_delivery
from plugins.upstreams import plugin as upstreams
from tests.conformance import everything
from tests.servers.legacy_only import LegacyOnly

NAME = "far"
"""What the server is called in ``portal.yaml``."""


class LegacyPortal(PortalApp):
    """A portal as it would be without the newer era."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await LegacyOnly(super().__call__)(scope, receive, send)


async def section(url: str) -> dict[str, Any]:
    """The plugin's section of ``portal.yaml`` for one server, whose names stay as they are."""
    async with Client(url) as client:
        tools = [each.name for each in (await client.list_tools()).tools]
        prompts = [each.name for each in (await client.list_prompts()).prompts]
    taken = {"alias": {name: name for name in tools}}
    server = {"name": NAME, "url": url, "tier": "open", "tools": taken}
    return {"servers": [server], "alias": {f"{NAME}__{name}": name for name in prompts}}


def main(directory: Path, *, before: str = "", legacy: bool = False) -> None:
    logs.configure("warning")
    telemetry.configure("porch", enabled=True)
    # The suite waits five seconds for a connection that ends before the reply (SEP-1699).
    reply_delivery.RESUMABLE_AFTER_SECONDS, reply_delivery.POLL_AFTER_SECONDS = 0.1, 0.5
    config = directory / "config"
    config.mkdir()
    (config / "tiers.yaml").write_text("default: open\n")
    here = {"listen": {"port": 0}, "services": {"embedding": "none"}, "limits": {"calls": "none"}}
    if before:
        plugins = {"upstreams": anyio.run(section, before)}
        (config / "portal.yaml").write_text(json.dumps({"plugins": plugins}))
    portal = load_portal(config, here)
    data = directory / "data"
    made = LegacyPortal if legacy else PortalApp
    app = made(portal, data, modules=[upstreams if before else everything])

    def ready(port: int) -> None:
        (directory / "port.new").write_text(str(port))
        (directory / "port.new").rename(directory / "port")

    with held(data):
        uvloop.run(serve(app, portal.config, data, ready))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--before", metavar="URL", default="")
    parser.add_argument("--legacy", action="store_true")
    main(**vars(parser.parse_args()))
