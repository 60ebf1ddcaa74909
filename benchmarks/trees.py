"""Source trees of real packages, as their authors published them; fetched once, never committed."""

from __future__ import annotations

import os
import re
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
    root.mkdir(parents=True, exist_ok=True)
    tree = _named(root, f"{name}-{version}")
    if tree is None:
        _unpack(_downloaded(name, version, root), root)
        tree = _named(root, f"{name}-{version}")
    if tree is None:
        raise Unmeasurable(f"The source distribution of {name} {version} holds no folder so named.")
    return tree


def git_tree(name: str, address: str, commit: str) -> Path:
    """The files of a public Git repository at one commit.

    Args:
        name: what to call it in the cache.
        address: where it is fetched from.
        commit: the very commit, 40 digits.

    Raises:
        Unmeasurable: it is not in the cache and cannot be fetched.
    """
    root = _cache() / "porch" / "trees"
    tree = root / f"{name}-{commit[:12]}"
    if tree.is_dir():
        return tree
    part = root / f"{name}-{commit[:12]}.part"
    part.mkdir(parents=True, exist_ok=True)
    for arguments in (
        ["init", "--quiet"],
        ["fetch", "--quiet", "--depth", "1", address, commit],
        ["checkout", "--quiet", "FETCH_HEAD"],
    ):
        done = subprocess.run(["git", "-C", str(part), *arguments], capture_output=True, text=True)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["git says nothing"]
            raise Unmeasurable(f"{address} cannot be fetched: {last[0]}")
    part.rename(tree)
    return tree


def _named(root: Path, name: str, suffix: str = "") -> Path | None:
    """What is so named in a folder, however it spells what stands between the words."""
    wanted = _spelled(name + suffix)
    return next((each for each in sorted(root.iterdir()) if _spelled(each.name) == wanted), None)


def _spelled(name: str) -> str:
    """A name as the index of packages compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _downloaded(name: str, version: str, into: Path) -> Path:
    requirement = f"{name}=={version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary"]
    done = subprocess.run(
        [*command, name, "--dest", str(into), requirement], capture_output=True, text=True
    )
    found = _named(into, f"{name}-{version}", ".tar.gz")
    if done.returncode or found is None:
        last = done.stderr.strip().splitlines()[-1:] or ["pip says nothing"]
        raise Unmeasurable(f"{requirement} cannot be fetched: {last[0]}")
    return found


def _unpack(archive: Path, into: Path) -> None:
    with tarfile.open(archive) as tar:
        tar.extractall(into, filter="data")
    archive.unlink()
