"""The official conformance suite passes for the portal as a client of other servers.

The suite plays the servers; a member of a portal uses each, and connects an account where a server
asks for one. So what is tested is what calls go through, and not the wire alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import traceback
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.conformance.conftest import HERE, NODE
from tests.conformance.member import use

AT_ONCE = 4
"""Scenarios that are played at once."""
SUITE = HERE.parent / "node" / "node_modules" / ".bin" / "conformance"
NOT_OURS = {
    # The portal asks as a person who has agreed, never as itself,
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/wif-jwt-bearer",
    # as somebody whose company has agreed for them,
    "auth/enterprise-managed-authorization",
    # or with a token that is bound to a key (RFC 9449).
    "auth/dpop",
    "auth/dpop-nonce",
}
"""Scenarios of extensions that the portal does not have."""
SKILLS = "sep-2640-client-"
BESIDE = {
    f"{SKILLS}no-prefetch": "2026-07-28",
    f"{SKILLS}verify-digest": "2026-07-28",
    f"{SKILLS}verify-frontmatter": "2026-07-28",
    f"{SKILLS}verify-size": "2026-07-28",
    # Not beside it: a server without any metadata, which cannot say that it takes PKCE.
    "auth/2025-03-26-oauth-metadata-backcompat": "2025-03-26",
}
"""Scenarios that no revision of today requires."""


@asynccontextmanager
async def members_at(path: Path) -> AsyncGenerator[dict[str, str]]:
    """Play what ``client.py`` says at a socket; gives what has failed, by scenario."""
    places, opening, failures = asyncio.Semaphore(AT_ONCE), asyncio.Lock(), dict[str, str]()

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = json.loads(await reader.readline())
        try:
            async with places:
                await use(**asked, opening=opening)
        except Exception:
            failures[asked["scenario"]] = traceback.format_exc()
            writer.write(b"failed")
        writer.close()

    async with await asyncio.start_unix_server(play, path):
        yield failures


async def played(directory: Path, *options: str) -> tuple[int | None, str]:
    """How the suite's scenarios end, and its report with what members were told."""
    client = f"{sys.executable} -IS {HERE / 'client.py'} {directory / 'socket'}"
    command = ["client", "--command", client, "--timeout", "120000", *options]
    async with members_at(directory / "socket") as failures:
        suite = await asyncio.create_subprocess_exec(
            NODE,
            SUITE,
            *command,
            cwd=directory,
            env=os.environ,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
        )
        report = (await suite.communicate())[0].decode()
    told = "".join(f"{scenario}: {failure}\n" for scenario, failure in failures.items())
    return suite.returncode, report + told


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("revision", "least"), [("2025-11-25", 19), ("2026-07-28", 33)])
async def test_every_scenario_of_a_revision_passes(
    revision: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORCH_TEST_CLIENT_SECRET", "pre-registered-secret")
    code, report = await played(tmp_path, "--requirements", revision)
    marks = re.findall(r"^(✓|✗) (\S+):", report, re.MULTILINE)
    failed = {scenario for mark, scenario in marks if mark == "✗"}
    assert failed == NOT_OURS, report[-9000:]
    assert len(marks) - len(failed) == least
    assert code == 0, report[-9000:]


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("scenario", "revision"), BESIDE.items())
async def test_scenarios_that_no_revision_requires_pass_as_well(
    scenario: str, revision: str, tmp_path: Path
) -> None:
    options = ["--scenario", scenario, "--spec-version", revision, "--force"]
    code, report = await played(tmp_path, *options)
    assert code == 0, report[-5000:]
    assert " 0 failed, 0 warnings" in report
