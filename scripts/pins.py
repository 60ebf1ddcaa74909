"""Compile the hashed requirement files, and check them without a network.

``python scripts/pins.py`` compiles ``requirements/*.txt`` from ``pyproject.toml``, keeping the
versions already pinned; ``--upgrade`` takes the newest. ``--check`` compares the pins with
``pyproject.toml`` and with the metadata of what is installed, and asks no index. Why the pins
are files of this kind: ``docs/decisions/0001-pins-as-hashed-requirement-files.md``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
HEADER = "# Compiled from pyproject.toml by `make pins`; do not edit.\n"


@dataclass(frozen=True, slots=True)
class PinSet:
    """One requirement file and what it answers.

    Attributes:
        name: the file's stem under ``requirements/``.
        requirements: the direct requirements, as written in ``pyproject.toml``.
        whole: whether the file also pins what those require in turn.
    """

    name: str
    requirements: tuple[str, ...]
    whole: bool = True

    @property
    def path(self) -> Path:
        """The compiled file."""
        return ROOT / "requirements" / f"{self.name}.txt"


def pin_sets(pyproject: dict[str, Any]) -> list[PinSet]:
    """Every requirement file, the one that contains the others first.

    Args:
        pyproject: the parsed ``pyproject.toml``.
    """
    project, groups = pyproject["project"], pyproject["dependency-groups"]
    run = [*project["dependencies"], *pyproject["build-system"]["requires"], *groups["install"]]
    extras = project["optional-dependencies"]
    apart = {"testing", "documents", "models", "payments"}
    services = [*run, *(line for name in extras if name not in apart for line in extras[name])]
    beside = [line for name in ("documents", "models", "payments") for line in extras[name]]
    return [
        PinSet("dev", tuple(services + beside + groups["dev"])),
        PinSet("documents", tuple(run + extras["documents"])),
        PinSet("models", tuple(run + extras["models"])),
        PinSet("payments", tuple(run + extras["payments"])),
        PinSet("services", tuple(services)),
        PinSet("run", tuple(run)),
        PinSet("model", tuple(groups["model"]), whole=False),
        PinSet("english", tuple(groups["english"]), whole=False),
        PinSet("multilingual", tuple(groups["multilingual"]), whole=False),
        PinSet("helm", tuple(groups["helm"]), whole=False),
    ]


def compile_pins(sets: Iterable[PinSet], python: str, upgrade: bool) -> None:
    """Write each file with uv; the smaller sets take the versions of the first.

    Args:
        sets: what to compile, the superset first.
        python: the oldest Python that the pins must fit.
        upgrade: whether to take the newest versions.
    """
    for index, pins in enumerate(sets):
        command = [sys.executable, "-m", "uv", "pip", "compile", "-", "--quiet", "--universal"]
        command += ["--python-version", python, "--generate-hashes", "--no-header", "--no-annotate"]
        command += ["--output-file", str(pins.path)]
        command += ["--upgrade"] if upgrade else []
        command += [] if pins.whole else ["--no-deps"]
        command += ["--constraint", str(ROOT / "requirements" / "dev.txt")] if index else []
        subprocess.run(command, input="\n".join(pins.requirements), text=True, check=True, cwd=ROOT)
        pins.path.write_text(HEADER + pins.path.read_text())


def pinned(path: Path) -> dict[str, str]:
    """The file's pins that hold on this machine, as ``{name: version}``."""
    found: dict[str, str] = {}
    for line in path.read_text().splitlines():
        if line[:1].isalnum():
            requirement = Requirement(line.rstrip("\\ "))
            if requirement.marker is None or requirement.marker.evaluate():
                found[canonicalize_name(requirement.name)] = str(requirement.specifier)[2:]
    return found


def problems(pins: PinSet) -> Iterator[str]:
    """Say in what the file differs from what ``pyproject.toml`` asks for.

    Walks from the direct requirements through the metadata of the installed packages: each must
    be pinned at a version that satisfies every requirement, and nothing else may be pinned.
    """
    versions = pinned(pins.path)
    reached: set[tuple[str, str]] = set()
    waiting = [(line, "pyproject.toml", "") for line in pins.requirements]
    while waiting:
        line, wanted_by, wanted_extra = waiting.pop()
        requirement = Requirement(line)
        name: str = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": wanted_extra}):
            continue
        if not requirement.specifier.contains(versions.get(name, ""), prereleases=True):
            yield f"{wanted_by} requires {line!r}; pinned: {versions.get(name, 'nothing')}."
            continue
        for extra in {"", *requirement.extras}:
            if pins.whole and (name, extra) not in reached:
                reached.add((name, extra))
                waiting += [(each, name, extra) for each in _requires(name, versions[name])]
    if pins.whole:
        for name in sorted(versions.keys() - {name for name, _ in reached}):
            yield f"{name} is pinned, and nothing requires it."


def _requires(name: str, version: str) -> list[str]:
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        raise SystemExit(f"{name} {version} is pinned and not installed: run `make dev`.") from None
    if installed.version != version:
        raise SystemExit(
            f"{name} is pinned at {version}, and {installed.version} is installed: run `make dev`."
        )
    return installed.requires or []


def main() -> None:
    """Compile the files, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    options = parser.parse_args()
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    sets = pin_sets(pyproject)
    if not options.check:
        python = pyproject["project"]["requires-python"].removeprefix(">=")
        compile_pins(sets, python, options.upgrade)
        return
    found = [f"{pins.path.relative_to(ROOT)}: {each}" for pins in sets for each in problems(pins)]
    if found:
        raise SystemExit("\n".join([*found, "Run `make pins` and commit the files."]))


if __name__ == "__main__":
    main()
