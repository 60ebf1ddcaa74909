"""A community's portal as its admin starts it: a directory of its own, and ``porch serve``."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.processes import free_port
from tests.servers import forked
from tests.servers.readiness import is_ready
from tests.servers.serving import bound, serving

PORCH = f"{Path(sys.executable).with_name('porch')}"
PATIENCE = 150.0
LOG = "portal.log"
PAGE = (
    "---\ntype: pattern\ntitle: Seasons\ndate: 2026-01-02\npublish: true\n---\nHow a year goes.\n"
)


@dataclass(frozen=True)
class Community:
    """A portal that runs.

    Attributes:
        root: its directory.
        url: its address.
    """

    root: Path
    url: str

    async def porch(self, *arguments: str, code: int = 0) -> str:
        """What a command prints that the admin gives in the portal's directory."""
        done = await asyncio.to_thread(forked.run, arguments, self.root, dict(os.environ), PATIENCE)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def tiers(self, rules: Mapping[str, Any]) -> None:
        """Write ``tiers.yaml``."""
        (self.root / "config" / "tiers.yaml").write_text(json.dumps(rules))


@contextmanager
def community(
    root: Path,
    config: Mapping[str, Any],
    tiers: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
) -> Iterator[Community]:
    """Set a portal up in a directory, and run it until the block is left; it must end well."""
    (root / "config").mkdir()
    (root / "content").mkdir()
    (root / "content" / "seasons.md").write_text(PAGE)
    knowledge = {"sources": [{"directory": "./content"}]}
    plugins = {"plugins": {"knowledge": knowledge, "workflows": {"starter": False}}}
    unlimited = {"limits": {"calls": "none"}}
    settings = {**plugins, **unlimited, "services": {"embedding": "none"}, **config}
    (root / "config" / "portal.yaml").write_text(json.dumps(settings))
    (root / "config" / "tiers.yaml").write_text(json.dumps(tiers))
    with running(root, environment) as made:
        yield made


@contextmanager
def running(root: Path, environment: Mapping[str, str] | None = None) -> Iterator[Community]:
    """Run the portal of a directory until the block is left; what it says is in ``LOG`` there."""
    port = free_port()
    made = Community(root, f"http://127.0.0.1:{port}")
    (root / LOG).write_text("")
    variables = {**os.environ, **(environment or {})}
    process = forked.Forked(("serve", "--port", str(port)), root, variables, root / LOG)
    try:
        _await_ready(made, process)
        yield made
    except BaseException as error:
        error.add_note((root / LOG).read_text()[-6000:])
        raise
    finally:
        process.terminate()
        process.wait(60)
    assert process.returncode == 0


def _await_ready(portal: Community, process: forked.Forked) -> None:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if is_ready(portal.url):
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.05)
    raise AssertionError("The portal did not start.")


class Rpc:
    """The one address at which the portal reads a chain, which may stop to answer.

    Attributes:
        url: the address.
        down: whether it answers with 503.
    """

    def __init__(self, chain_url: str) -> None:
        self.url = ""
        self.down = False
        self._chain_url = chain_url
        self._http = httpx2.Client(timeout=60)

    @contextmanager
    def serving(self) -> Iterator[Rpc]:
        """Answer for as long as the block lasts."""
        app = Starlette(routes=[Route("/", self._answer, methods=["POST"])])
        with self._http, serving(app, bound()) as self.url:
            yield self

    async def _answer(self, request: Request) -> Response:
        if self.down:
            return Response("Down.", 503)
        body = await request.body()
        kind = {"content-type": "application/json"}
        answer = await asyncio.to_thread(
            self._http.post, self._chain_url, content=body, headers=kind
        )
        return Response(answer.content, answer.status_code, media_type="application/json")


@contextmanager
def rpc(chain_url: str) -> Iterator[Rpc]:
    """The address of a chain, for as long as the block lasts."""
    with Rpc(chain_url).serving() as made:
        yield made
