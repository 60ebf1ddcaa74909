"""A skip that a test variable would prevent is a failure in CI and a visible skip elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = {
    "fixture": "def test_it(redis_url): assert False",
    "mark": """
import pytest

@pytest.mark.skipif(True, reason="PORCH_TEST_REDIS is not set")
def test_it(): assert False
""",
    "module": """
import pytest

pytest.skip("PORCH_TEST_REDIS is not set", allow_module_level=True)
""",
    "unrelated": """
import pytest

@pytest.mark.skip(reason="needs another operating system")
def test_it(): assert False
""",
}


def run(directory: Path, kind: str, ci: str) -> subprocess.CompletedProcess[str]:
    (directory / "conftest.py").write_text(CONFTEST.read_text())
    (directory / "pytest.ini").write_text("[pytest]\n")
    (directory / "test_it.py").write_text(TESTS[kind])
    environment = {name: value for name, value in os.environ.items() if "PORCH_TEST_" not in name}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "test_it.py"],
        cwd=directory,
        env=environment | {"CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("kind", ["fixture", "mark", "module"])
def test_a_missing_setting_fails_in_ci(tmp_path: Path, kind: str) -> None:
    result = run(tmp_path, kind, ci="true")
    assert result.returncode != 0
    assert "CI runs every test" in result.stdout
    assert "PORCH_TEST_REDIS" in result.stdout


@pytest.mark.parametrize("kind", ["fixture", "mark"])
def test_a_missing_setting_is_a_visible_skip_elsewhere(tmp_path: Path, kind: str) -> None:
    result = run(tmp_path, kind, ci="")
    assert result.returncode == 0
    assert "1 skipped" in result.stdout
    assert "PORCH_TEST_REDIS is not set" in result.stdout


def test_a_skip_for_another_reason_stands_in_ci(tmp_path: Path) -> None:
    result = run(tmp_path, "unrelated", ci="true")
    assert result.returncode == 0
    assert "1 skipped" in result.stdout
