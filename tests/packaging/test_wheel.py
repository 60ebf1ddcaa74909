"""The wheel holds all that a portal needs: installed elsewhere with the pins, it serves."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from scripts.versions import declared, interpreter
from tests.faults.conftest import eventually
from tests.gateway.cli.conftest import PAGE, PORTAL, TIERS
from tests.journeys.test_serving import request
from tests.servers.readiness import is_ready

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HERE = {
    version: python
    for version in declared(PROJECT["classifiers"])
    if (python := interpreter(version)) is not None
}
PYTHONS = {version: HERE[version] for version in (min(HERE), max(HERE))}
"""The oldest and the newest that are installed here; `make versions` tests those between."""

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]


def ran(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a command printed that must succeed."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The portal's wheel, built from this checkout with what is installed."""
    place = tmp_path_factory.mktemp("dist")
    options = ("--wheel", "--no-build-isolation", "--quiet", "--out-dir", place)
    ran(sys.executable, "-m", "uv", "build", "--python", sys.executable, *options, ROOT)
    (built,) = place.glob("*.whl")
    return built


def installed(wheel: Path, python: str, place: Path) -> Path:
    """The commands of an empty environment with the pins and the wheel."""
    uv = (sys.executable, "-m", "uv")
    environment = place / "environment"
    ran(*uv, "venv", "--quiet", "--python", python, environment)
    install = (*uv, "pip", "install", "--quiet", "--python", environment / "bin" / "python")
    ran(*install, "--require-hashes", "--requirement", "requirements/run.txt")
    ran(*install, "--no-deps", "--no-index", wheel)
    return environment / "bin"


def portal_in(place: Path) -> Path:
    """A small portal's directory."""
    (place / "config").mkdir()
    (place / "content").mkdir()
    (place / "config" / "portal.yaml").write_text(PORTAL)
    (place / "config" / "tiers.yaml").write_text(TIERS)
    (place / "content" / "sow.md").write_text(PAGE.format(title="How to sow", type="pattern"))
    return place


@contextmanager
def served(porch: Path, place: Path) -> Iterator[str]:
    """Run `porch serve`; the address that members paste."""
    command = (str(porch), "serve", "--port", "0")
    errors = (place / "errors").open("w")
    with (
        errors,
        subprocess.Popen(
            command, cwd=place, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            pasted = (line.split()[-1] for line in process.stdout if "Paste into" in line)
            url = next(pasted, "") or pytest.fail((place / "errors").read_text())
            eventually(lambda: is_ready(url.removesuffix("/mcp")), "it is ready")
            yield url
        finally:
            process.terminate()
            process.wait(60)
    assert process.returncode == 0


def test_the_oldest_python_that_is_declared_is_here() -> None:
    assert PYTHONS.keys() >= {declared(PROJECT["classifiers"])[0]}


@pytest.mark.parametrize("version", PYTHONS)
def test_an_empty_environment_with_the_wheel_serves(
    wheel: Path, tmp_path: Path, version: str
) -> None:
    commands = installed(wheel, PYTHONS[version], tmp_path)
    place = portal_in(tmp_path)
    porch = commands / "porch"
    assert ran(porch, "--version", cwd=place) == f"porch {PROJECT['version']}\n"
    assert ran(porch, "check", cwd=place).splitlines()[-1] == "All well."
    found = ran(commands / "python", "-c", "import gateway; print(gateway.__file__)", cwd=place)
    assert Path(found.strip()).is_relative_to(tmp_path)
    with served(porch, place) as url:
        message = request("tools/call", name="search_knowledge", arguments={"query": "sow"})
        answer = httpx2.post(url, **message, timeout=60)
    assert (answer.status_code, "How to sow" in answer.text) == (200, True)
    assert "porch-weather" in ran(porch, "new-plugin", "weather", cwd=place)
