"""``porch codegraph health``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from gateway.cli import main
from gateway.testing.migrations import replayed_migrations

Porch = Callable[..., Result]


@pytest.fixture
def porch(tmp_path: Path) -> Iterator[Porch]:
    """Run ``porch codegraph`` in a directory of the test's own."""
    config = tmp_path / "config"
    config.mkdir()
    off = {name: {"enabled": False} for name in ("knowledge", "skills_repo", "workflows")}
    settings = {"services": {"embedding": "none"}, "plugins": {**off, "codegraph": {}}}
    (config / "portal.yaml").write_text(yaml.safe_dump(settings))
    where = ("--config", str(config), "--data", str(tmp_path / "data"))

    def run(*words: str) -> Result:
        words = ("codegraph", *words, *where)
        return CliRunner().invoke(main, words, prog_name="porch", catch_exceptions=False)

    with replayed_migrations():
        yield run


def test_health_is_told_in_a_terminal_and_as_json(tmp_path: Path, porch: Porch) -> None:
    tree = tmp_path / "shop"
    tree.mkdir()
    (tree / "a.py").write_text("import b\n\n\ndef _dead():\n    return 1\n")
    (tree / "b.py").write_text("import a\n")
    assert porch("add", str(tree)).exit_code == 0
    shown = porch("health", "shop")
    assert shown.exit_code == 0, shown.output
    assert "a.py:4 _dead, 2 lines: Nothing uses it" in shown.output
    assert "a.py -> b.py -> a.py (import time)" in shown.output
    assert "shop has a score of" in shown.output
    answer = json.loads(porch("health", "shop", "--json").output)
    assert answer["sections"]["deadCode"]["count"] == 1
    assert len(answer["history"]) == 1


def test_a_repository_that_is_not_there_has_no_health(porch: Porch) -> None:
    answer = porch("health", "nowhere")
    assert answer.exit_code == 1
    assert "nowhere" in answer.output
