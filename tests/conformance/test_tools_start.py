"""The pinned tools run on the Node.js that was installed for them."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

NodeTool = Callable[..., subprocess.CompletedProcess[str]]

PACKAGE = Path(__file__).parents[1] / "node" / "package.json"
PINNED = json.loads(PACKAGE.read_text())["dependencies"]


def test_the_conformance_suite_is_the_pinned_one(node_tool: NodeTool) -> None:
    result = node_tool("conformance", "--version")
    assert result.stdout.strip() == PINNED["@modelcontextprotocol/conformance"]


def test_the_conformance_suite_knows_both_eras(node_tool: NodeTool) -> None:
    for revision in ("2025-11-25", "2026-07-28"):
        result = node_tool("conformance", "list", "--requirements", revision)
        assert result.returncode == 0, result.stderr
        assert "tools-list" in result.stdout


def test_the_inspector_says_that_nobody_answers(node_tool: NodeTool) -> None:
    with socket.socket() as unanswered:
        unanswered.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unanswered.getsockname()[1]}/mcp"
        options = ["--transport", "http", "--method", "tools/list", "--format", "json"]
        result = node_tool("mcp-inspector", "--cli", url, *options)
    assert result.returncode != 0
    assert json.loads(result.stderr)["error"]["code"] == "unreachable"
