"""Serves the "everything" plugin on a free port, until it is told to stop.

Run as ``python portal.py DIRECTORY``; it writes the port to ``DIRECTORY/port``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import uvloop

from gateway.app import PortalApp
from gateway.cli.data_directory import held
from gateway.cli.server import serve
from gateway.config.portal import load_portal
from gateway.observability import logs, telemetry
from gateway.surfaces.mcp import delivery
from tests.conformance import everything


def main(directory: Path) -> None:
    logs.configure("warning")
    telemetry.configure("porch", enabled=True)
    # The suite waits five seconds for a connection that ends before the reply (SEP-1699).
    delivery.RESUMABLE_AFTER_SECONDS, delivery.POLL_AFTER_SECONDS = 0.1, 0.5
    config = directory / "config"
    config.mkdir()
    (config / "tiers.yaml").write_text("default: open\n")
    here = {"listen": {"port": 0}, "services": {"embedding": "none"}, "limits": {"calls": "none"}}
    portal = load_portal(config, here)
    data = directory / "data"
    app = PortalApp(portal, data, modules=[everything])

    def ready(port: int) -> None:
        (directory / "port.new").write_text(str(port))
        (directory / "port.new").rename(directory / "port")

    with held(data):
        uvloop.run(serve(app, portal.config, data, ready))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
