"""The official conformance suite passes against the gateway, in both eras."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

NodeTool = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_every_scored_scenario_of_a_revision_passes(
    url: str, revision: str, node_tool: NodeTool
) -> None:
    result = node_tool(
        "conformance", "server", "--url", url, "--requirements", revision, timeout=170
    )
    assert result.returncode == 0, result.stdout[-5000:]


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "scenario",
    ["http-header-validation", "http-custom-header-server-validation", "json-schema-2020-12"],
)
def test_pending_scenarios_pass_as_well(url: str, scenario: str, node_tool: NodeTool) -> None:
    options = ["--scenario", scenario, "--spec-version", "2026-07-28"]
    result = node_tool("conformance", "server", "--url", url, *options)
    assert result.returncode == 0, result.stdout[-5000:]


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize("scenario", ["skills-enumeration", "skills-directory", "skills-manifest"])
def test_the_skills_extension_passes_without_a_warning(
    url: str, scenario: str, node_tool: NodeTool
) -> None:
    # Forced, because the suite counts scenarios of an extension to no revision.
    options = ["--scenario", f"sep-2640-{scenario}", "--spec-version", "2026-07-28", "--force"]
    result = node_tool("conformance", "server", "--url", url, *options)
    assert result.returncode == 0, result.stdout[-5000:]
    assert "0 failed, 0 warnings" in result.stdout
    assert "SKIPPED" not in result.stdout


@pytest.mark.heavy
@pytest.mark.timeout(900)
def test_a_reply_is_polled_for_with_its_last_event_id(url: str, node_tool: NodeTool) -> None:
    options = ["--scenario", "server-sse-polling", "--spec-version", "2025-11-25"]
    result = node_tool("conformance", "server", "--url", url, *options, "--verbose")
    assert result.returncode == 0, result.stdout[-5000:]
    assert "Passed: 3/3, 0 failed, 0 warnings" in result.stdout


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "scenario",
    [
        "lifecycle",
        "capability-negotiation",
        "wire-fields",
        "request-state-removal",
        "mrtr-input",
        "request-headers",
        "dispatch-and-envelope",
        "required-task-error",
        "mrtr-composition",
    ],
)
def test_the_tasks_extension_passes_without_a_warning(
    url: str, scenario: str, node_tool: NodeTool
) -> None:
    # The tenth, tasks-status-notifications, skips itself whatever the server does: its harness
    # does not open the stream on which notifications come.
    options = ["--scenario", f"tasks-{scenario}", "--spec-version", "2026-07-28", "--force"]
    result = node_tool("conformance", "server", "--url", url, *options, timeout=120)
    assert result.returncode == 0, result.stdout[-5000:]
    assert "0 failed, 0 warnings" in result.stdout
    assert "SKIPPED" not in result.stdout
