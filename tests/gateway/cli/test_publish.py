"""``porch publish`` writes what a registry of MCP servers takes."""

from __future__ import annotations

import json
from pathlib import Path

from gateway.cli.options import EXIT
from tests.gateway.cli.conftest import Run


def at(place: Path, url: str) -> None:
    """Give the portal an address."""
    file = place / "config" / "portal.yaml"
    file.write_text(f"public_url: {url}\n" + file.read_text())


def test_a_public_portal_is_written_for_a_registry(porch: Run, place: Path, tmp_path: Path) -> None:
    at(place, "https://portal.example.org")
    file = tmp_path / "server.json"
    result = porch("publish", "--output", str(file))
    assert result.exit_code == EXIT.DONE
    assert "org.example.portal/porch" in result.stdout
    entry = json.loads(file.read_text())
    assert entry["remotes"][0]["url"] == "https://portal.example.org/mcp"
    printed = porch("publish", "--name", "io.github.commons/portal", "--output", "-")
    assert json.loads(printed.stdout)["name"] == "io.github.commons/portal"


def test_a_portal_that_nobody_else_can_reach_is_not(porch: Run, tmp_path: Path) -> None:
    file = tmp_path / "server.json"
    result = porch("publish", "--output", str(file))
    assert result.exit_code == EXIT.PROBLEM
    assert "public_url" in result.stderr
    assert not file.exists()


def test_a_name_without_a_namespace_is_refused(porch: Run, place: Path) -> None:
    at(place, "https://portal.example.org")
    result = porch("publish", "--name", "portal")
    assert result.exit_code == EXIT.USAGE
    assert "NAMESPACE/NAME" in result.stderr
