"""What the tests' own configuration does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
WITHOUT_LINES = """
def fail():
    raise RuntimeError("without a line")

# Eight instructions to an entry, each of which says that they have no place in the source.
entries = len(fail.__code__.co_code) // 2 // 8
fail.__code__ = fail.__code__.replace(co_linetable=b"\\xff" * (entries + 1))

def test_it():
    fail()

def test_cause():
    try:
        fail()
    except RuntimeError as error:
        raise ValueError from error
"""


def run(directory: Path, **files: str) -> subprocess.CompletedProcess[str]:
    (directory / "conftest.py").write_text(CONFTEST.read_text())
    (directory / "pytest.ini").write_text("[pytest]\nmarkers =\n  heavy\n  one_database\n")
    for name, text in files.items():
        (directory / f"{name}.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_error_without_a_line_fails_its_test_and_no_more(tmp_path: Path) -> None:
    result = run(tmp_path, test_it=WITHOUT_LINES)
    assert "2 failed" in result.stdout
    assert "INTERNALERROR" not in result.stdout + result.stderr


def test_files_with_heavy_tests_come_first_and_stay_whole(tmp_path: Path) -> None:
    light = "def test_light(): pass"
    heavy = f"import pytest\n{light}\n@pytest.mark.heavy\ndef test_heavy(): pass"
    result = run(tmp_path, test_a=light, test_b=heavy, test_c=light)
    ran = [line.partition(" ")[0] for line in result.stdout.splitlines() if " PASSED" in line]
    assert ran == [
        *("test_b.py::test_light", "test_b.py::test_heavy"),
        *("test_a.py::test_light", "test_c.py::test_light"),
    ]


def test_what_is_not_about_the_database_runs_on_one_unless_the_run_is_thorough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = "@pytest.mark.parametrize('on', ['sqlite', 'postgresql'])\ndef test_both(on): pass\n"
    alone = "@pytest.mark.parametrize('on', ['postgresql'])\ndef test_alone(on): pass\n"
    marked = f"import pytest\npytestmark = pytest.mark.one_database\n{both}{alone}"
    files = {"test_marked": marked, "test_other": f"import pytest\n{both}"}
    monkeypatch.delenv("HYPOTHESIS_PROFILE", raising=False)
    ordinary = run(tmp_path, **files).stdout
    assert "4 passed, 1 deselected" in ordinary
    assert "test_marked.py::test_both[postgresql]" not in ordinary
    assert "test_marked.py::test_alone[postgresql] PASSED" in ordinary
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "thorough")
    assert "5 passed" in run(tmp_path, **files).stdout
