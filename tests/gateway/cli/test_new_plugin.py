"""``porch new-plugin`` writes a package that works as it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.options import EXIT
from tests.gateway.cli.conftest import Run

NAME = "community-calendar"


@pytest.fixture
def package(porch: Run, tmp_path: Path) -> Path:
    result = porch("new-plugin", NAME, "--into", str(tmp_path / "new"))
    assert result.exit_code == EXIT.DONE, result.output
    return tmp_path / "new" / f"porch-{NAME}"


def done(package: Path, *words: str, path: Path | None = None) -> str:
    """What ``python -m WORDS`` prints in the package's directory; it must succeed."""
    environment = {**os.environ, "PYTHONPATH": str(path or package / "src")}
    result = subprocess.run(
        [sys.executable, "-m", *words], cwd=package, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_nothing_of_the_template_s_name_is_left(package: Path) -> None:
    for path in package.rglob("*"):
        text = path.read_text() if path.is_file() else ""
        assert "example" not in (path.name + text).replace("example.org", "").casefold(), path


def test_it_is_clean_and_its_types_are_strict(package: Path) -> None:
    done(package, "ruff", "check", "--no-cache", ".")
    done(package, "ruff", "format", "--no-cache", "--check", ".")
    done(package, "mypy", "--cache-dir", os.devnull, "--strict", "src", "tests")


def test_its_own_tests_and_the_contract_suite_pass(package: Path) -> None:
    said = done(package, "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    assert " passed" in said
    assert "failed" not in said


def test_its_wheel_is_found_by_the_portal_without_any_change(package: Path, place: Path) -> None:
    wheels, target = package / "dist", package / "installed"
    quiet = ("--quiet", "--disable-pip-version-check", "--no-deps")
    done(package, "pip", "wheel", *quiet, "--no-build-isolation", "-w", str(wheels), ".")
    (wheel,) = wheels.glob("*.whl")
    done(package, "pip", "install", *quiet, "--no-index", "--target", str(target), str(wheel))
    own = ("--config", str(place / "config"), "--data", str(place / "data"))
    assert "community_calendar" in done(package, "gateway.cli", "plugins", *own, path=target)
    called = ("call", "community_calendar_find", "words=note", "--as", "open")
    (place / "config" / "tiers.yaml").write_text("default: open\n")
    said = done(package, "gateway.cli", *called, *own, path=target)
    assert "This note came with the plugin." in said


def test_what_comes_next_is_said_for_the_environment_that_the_portal_is_in(porch: Run) -> None:
    said = porch("new-plugin", "weather").output
    assert f"{os.path.relpath(sys.prefix)}/bin/activate" in said
    for line in ("pip install -e ./porch-weather", "porch plugins", "pytest ./porch-weather"):
        assert f"\n  {line}\n" in said


def test_what_is_there_is_never_overwritten(package: Path, porch: Run) -> None:
    result = porch("new-plugin", NAME, "--into", str(package.parent))
    assert result.exit_code == EXIT.USAGE
    assert "nothing was written" in result.output


def test_the_name_of_a_plugin_that_is_installed_is_refused(porch: Run) -> None:
    result = porch("new-plugin", "knowledge")
    assert result.exit_code == EXIT.USAGE
    assert "a plugin named knowledge is installed already" in result.output
    assert not Path("porch-knowledge").exists()


@pytest.mark.parametrize("name", ["9lives", "Weather", "a b", "x" * 33, ""])
def test_a_name_that_cannot_be_one_is_refused(porch: Run, name: str) -> None:
    assert porch("new-plugin", "--", name).exit_code == EXIT.USAGE
