"""Source trees of real packages, as their authors published them; fetched once, never committed."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

from benchmarks.table import Unmeasurable


def python_tree(name: str, version: str) -> Path:
    """The unpacked source distribution of a Python package.

    Args:
        name: as it is installed by.
        version: the very version, so that figures compare.

    Raises:
        Unmeasurable: it is not in the cache and cannot be fetched.
    """
    root = _cache() / "porch" / "trees"
    tree = root / f"{name}-{version}"
    if not tree.is_dir():
        root.mkdir(parents=True, exist_ok=True)
        _unpack(_downloaded(f"{name}=={version}", root), root)
    if not tree.is_dir():
        raise Unmeasurable(f"The source distribution of {name} {version} holds no {tree.name}/.")
    return tree


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _downloaded(requirement: str, into: Path) -> Path:
    name = requirement.partition("==")[0]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary"]
    done = subprocess.run(
        [*command, name, "--dest", str(into), requirement], capture_output=True, text=True
    )
    found = sorted(into.glob(f"{name}-*.tar.gz"))
    if done.returncode or not found:
        last = done.stderr.strip().splitlines()[-1:] or ["pip says nothing"]
        raise Unmeasurable(f"{requirement} cannot be fetched: {last[0]}")
    return found[-1]


def _unpack(archive: Path, into: Path) -> None:
    with tarfile.open(archive) as tar:
        tar.extractall(into, filter="data")
    archive.unlink()
