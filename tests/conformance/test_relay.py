"""The official conformance suite passes through the relay: a portal before the portal.

Clients of both eras meet servers of both, so that all that is asked, answered and asked back
crosses in all four combinations.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.conformance.conftest import portal_in, url_in

NodeTool = Callable[..., subprocess.CompletedProcess[str]]
ERAS = {"2025-11-25": "legacy", "2026-07-28": "modern"}
NOT_OURS = "tasks-"
"""How the scenarios of an extension begin that the portal does not have."""
IMPOSSIBLE = {
    ("modern", "legacy"): {
        # An older server's questions have no names, so the client is asked under the portal's.
        "input-required-result-basic-elicitation",
        # It asks one thing after the other, each while its call runs.
        "input-required-result-multiple-input-requests",
        # It was told once, for all clients of the portal, what it may ask.
        "input-required-result-capability-check",
    }
}
"""The scenarios that cannot pass, by the eras of client and server."""


@pytest.fixture(scope="module", params=["modern", "legacy"])
def relay(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """The era of a server, and the endpoint of the portal before it."""
    far, near = (tmp_path_factory.mktemp(name) for name in ("far", "near"))
    options = ["--legacy"] if request.param == "legacy" else []
    with portal_in(far, *options), portal_in(near, "--before", url_in(far)):
        yield request.param, url_in(near)


def marked(mark: str, report: str) -> set[str]:
    """The scenarios with a mark in the summary of a report."""
    return set(re.findall(rf"^{mark} ([\w-]+):", report, re.MULTILINE))


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize("revision", ERAS)
def test_every_scenario_passes_that_can(
    relay: tuple[str, str], revision: str, node_tool: NodeTool
) -> None:
    server, url = relay
    options = ["--url", url, "--requirements", revision]
    report = node_tool("conformance", "server", *options, timeout=170).stdout
    failed = {each for each in marked("✗", report) if not each.startswith(NOT_OURS)}
    assert failed == IMPOSSIBLE.get((ERAS[revision], server), set()), report[-5000:]
    assert len(marked("✓", report)) >= 33


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize("scenario", ["enumeration", "directory", "manifest"])
def test_a_servers_skills_pass_without_a_warning(
    relay: tuple[str, str], scenario: str, node_tool: NodeTool
) -> None:
    which = ["--scenario", f"sep-2640-skills-{scenario}", "--spec-version", "2026-07-28", "--force"]
    result = node_tool("conformance", "server", "--url", relay[1], *which)
    assert result.returncode == 0, result.stdout[-5000:]
    assert "0 failed, 0 warnings" in result.stdout
    assert "SKIPPED" not in result.stdout
