"""The official Inspector reads and calls the portal's tools, in both eras."""

from __future__ import annotations

import json
from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import pytest

NodeTool = Callable[..., CompletedProcess[str]]
ERAS = ["legacy", "modern"]


def _inspect(node_tool: NodeTool, url: str, era: str, *options: str) -> Any:
    common = ["--transport", "http", "--protocol-era", era, "--format", "json", "-q"]
    result = node_tool("mcp-inspector", "--cli", url, *common, *options)
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    return answer.get("result", answer)


@pytest.mark.heavy
@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_lists_the_tools(url: str, node_tool: NodeTool, era: str) -> None:
    listed = _inspect(node_tool, url, era, "--method", "tools/list", "--strict")
    assert "test_simple_text" in {tool["name"] for tool in listed["tools"]}


@pytest.mark.heavy
@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_calls_a_tool(url: str, node_tool: NodeTool, era: str) -> None:
    call = ["--method", "tools/call", "--tool-name", "test_simple_text"]
    result = _inspect(node_tool, url, era, *call)
    assert "simple text response" in json.dumps(result["content"])
