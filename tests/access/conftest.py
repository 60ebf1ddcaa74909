"""Portals to attack, in memory and in processes, and a host that publishes a client's metadata."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from tests.access.attacks import EVERY_WAY, Attacked, attacked
from tests.gateway.surfaces.pages.browser import Browser

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def portal(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Attacked]:
    """A portal with every way to sign in, so that every form is there."""
    monkeypatch.setenv("PORCH_TEST_SECRET", "the-secret")
    async with attacked(sign_in=EVERY_WAY) as portal:
        yield portal


@pytest.fixture
async def alice(portal: Attacked) -> Browser:
    """The browser of somebody who is signed in."""
    browser = portal.browser()
    await browser.sign_in()
    return browser


@contextmanager
def portal_process(
    directory: Path, *client_hosts: str, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """The address of a portal that runs until the block is left, and must end well."""
    command = [sys.executable, "-m", "tests.access.portal", str(directory), *client_hosts]
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **(environment or {})}, stderr=subprocess.PIPE
    ) as portal:
        deadline = time.monotonic() + 60
        while not (directory / "port").exists():
            if portal.poll() is not None or time.monotonic() > deadline:
                portal.kill()
                assert portal.stderr is not None
                pytest.fail(f"The portal did not start: {portal.stderr.read().decode()}")
            time.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{(directory / 'port').read_text()}"
        finally:
            portal.terminate()
        assert portal.wait(60) == 0


@dataclass
class Publisher:
    """A client's site, on TLS.

    Attributes:
        host: its name and port.
        authority: the file of the authority that its certificate is from.
        url: where the client's metadata document is.
    """

    host: str
    authority: Path
    url: str


@pytest.fixture(scope="session")
def publisher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publisher]:
    """A site that publishes the metadata of one client."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    path = tmp_path_factory.mktemp("authority") / "authority.pem"
    authority.cert_pem.write_to_path(str(path))

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({**DOCUMENT, "client_id": url}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        host = f"localhost:{server.server_port}"
        url = f"https://{host}/client.json"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Publisher(host, path, url)
        server.shutdown()
        thread.join(10)


REDIRECT = "http://127.0.0.1:3118/callback"
DOCUMENT = {"client_name": "The SDK", "redirect_uris": [REDIRECT]}


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory, publisher: Publisher) -> Iterator[str]:
    """The address of a portal that trusts the publisher's certificate."""
    trusted = {"SSL_CERT_FILE": str(publisher.authority)}
    directory = tmp_path_factory.mktemp("portal")
    with portal_process(directory, publisher.host, environment=trusted) as url:
        yield url
