"""Serves a portal with the garden and an identity provider that approves, until told to stop.

Run as ``python -m tests.access.portal DIRECTORY [CLIENT_HOST]``; it writes the port to
``DIRECTORY/port``. CLIENT_HOST, as NAME:PORT, may publish client metadata from loopback.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import uvloop

from gateway.app import PortalApp
from gateway.config.portal import load_portal
from gateway.observability import logs, telemetry
from gateway.server.data_directory import held
from gateway.server.server import serve
from tests.journeys import garden
from tests.servers.identity_provider import IdentityProvider

TIERS = {
    "default": "members",
    "items": {"garden": "open", "garden/water": "public", "garden/harvest": "members"},
    "access": {"members": {"any_of": [{"email": "ana@example.org"}]}},
}


def main(directory: Path, client_hosts: list[str]) -> None:
    logs.configure("warning")
    telemetry.configure("porch", enabled=True)
    config = directory / "config"
    config.mkdir()
    (config / "tiers.yaml").write_text(json.dumps(TIERS))
    with IdentityProvider() as provider:
        os.environ["PROVIDER_SECRET"] = str(provider.client_secret)
        oidc = {
            "name": "Provider",
            "issuer": provider.issuer,
            "client_id": provider.client_id,
            "client_secret": "env:PROVIDER_SECRET",
        }
        signing_in = {"oidc": [oidc], "challenge": "http", "private_hosts": client_hosts}
        settings = {
            "listen": {"port": 0},
            "services": {"embedding": "none"},
            "sign_in": signing_in,
            "limits": {"calls": "none"},
        }
        portal = load_portal(config, settings)
        app = PortalApp(portal, directory / "data", modules=[garden])

        def ready(port: int) -> None:
            (directory / "port.new").write_text(str(port))
            (directory / "port.new").rename(directory / "port")

        with held(directory / "data"):
            uvloop.run(serve(app, portal.config, directory / "data", ready))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
