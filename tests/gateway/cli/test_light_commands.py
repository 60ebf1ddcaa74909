"""What commands import: none loads what it has no use for, so that each answers at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.cli.conftest import PORTAL, TIERS, served

SERVING = {"mcp", "dbos", "fastembed", "onnxruntime", "numpy", "authlib", "web3", "uvicorn"}
"""What serves, computes or signs people in."""
PORTAL_PARTS = SERVING | {"mcp_types", "sqlalchemy", "opentelemetry", "starlette", "structlog"}
"""What only a portal needs."""
SETTINGS = {"auth", "pydantic", "pydantic_settings", "yaml"}
"""What reads `portal.yaml`."""
SHIPPED = ("codegraph", "knowledge", "skills_repo", "upstreams", "workflows")
OPENING = (
    *("gateway.app", "gateway.assembly", "gateway.plugin_host", "gateway.services"),
    *("gateway.catalog.catalog", "gateway.surfaces", "gateway.pipeline"),
    *(f"plugins.{name}.{room}" for name in SHIPPED for room in ("offer", "opening", "tools")),
    *("plugins.knowledge.sync", "plugins.knowledge.notes.content.", "plugins.knowledge.retrieval"),
    *("plugins.skills_repo.index", "plugins.codegraph.indexing", "plugins.upstreams.upstreams"),
)
"""Modules, by how their names begin, that open or serve a plugin."""
WITH_A_MODEL = """
services: {embedding: embedded}
plugins: {knowledge: {enabled: false}, workflows: {enabled: false}}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a portal runs."""
    place = tmp_path_factory.mktemp("served")
    for name in ("config", "content"):
        (place / name).mkdir()
    (place / "config" / "portal.yaml").write_text(PORTAL)
    (place / "config" / "tiers.yaml").write_text(TIERS)
    with served(place):
        yield place


def imported(place: Path, *words: str) -> set[str]:
    """The packages that a command has imported when it has done its work."""
    return {each.partition(".")[0] for each in modules(place, *words)}


def modules(place: Path, *words: str) -> set[str]:
    """The modules that a command has imported when it has done its work."""
    command = [sys.executable, "-X", "importtime", "-m", "gateway.cli", *words]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    assert done.stdout
    lines = [each for each in done.stderr.splitlines() if each.startswith("import time:")]
    return {each.rpartition("|")[2].strip() for each in lines}


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("status",),
        ("tools", "--all"),
        ("call", "list_groups"),
        ("explain", "--as", "open", "--tool", "search_knowledge"),
        ("tiers", "diff", "config/tiers.yaml"),
    ],
    ids=lambda words: words[0],
)
def test_a_command_that_asks_the_portal_imports_none_of_it(
    place: Path, words: tuple[str, ...]
) -> None:
    found = imported(place, *words)
    assert "click" in found
    assert found & (PORTAL_PARTS | SETTINGS) == set()


def test_a_portal_opened_for_one_look_loads_no_model(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "portal.yaml").write_text(WITH_A_MODEL)
    (tmp_path / "config" / "tiers.yaml").write_text(TIERS)
    found = imported(tmp_path, "tools")
    assert {"starlette", "sqlalchemy"} <= found
    assert found & {"numpy", "onnxruntime", "tokenizers", "uvicorn", "dbos"} == set()


@pytest.mark.parametrize("words", [("plugins",), ("doctor",)])
def test_plugins_are_found_by_their_declarations_alone(place: Path, words: tuple[str, ...]) -> None:
    found = modules(place, *words)
    assert {f"plugins.{name}.config" for name in SHIPPED} <= found
    assert {each.partition(".")[0] for each in found} & (PORTAL_PARTS | {"rich"}) == set()
    assert {each for each in found if each.startswith(OPENING)} == set()


@pytest.mark.parametrize("words", [("upstreams", "status"), ("workflows", "--help")])
def test_a_plugins_command_imports_no_other_plugins_parts(
    place: Path, words: tuple[str, ...]
) -> None:
    found = imported(place, *words)
    assert "plugins" in found
    assert found & (SERVING | {"sqlalchemy", "tree_sitter"}) == set()


@pytest.mark.parametrize("words", [("token", "list"), ("people", "list"), ("audit",)])
def test_a_command_that_reads_the_database_imports_nothing_that_serves(
    place: Path, words: tuple[str, ...]
) -> None:
    found = imported(place, *words)
    assert "sqlalchemy" in found
    assert found & (SERVING | {"starlette"}) == set()


def test_the_configuration_is_read_without_the_protocols_types(place: Path) -> None:
    command = "from gateway.cli.options import Setup; Setup(None, None).portal; import sys; "
    command += "print('gateway.contract' in sys.modules, 'mcp_types' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=place, capture_output=True, text=True
    )
    assert done.stdout.split() == ["True", "False"], done.stderr[-2000:]
