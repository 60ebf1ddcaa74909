"""The programs that a project's manifests name: ``[project.scripts]``, ``entry_points``."""

from __future__ import annotations

import re
from collections.abc import Iterable

MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")
"""The files, by name, that may name programs of Python."""
_SCRIPT = re.compile(r"[\"']?([\w.-]+)[\"']?\s*=\s*[\"']?([\w.]+):(\w+(?:\.\w+)*)")


def is_manifest(path: str) -> bool:
    """Whether a file may name programs."""
    return path.rpartition("/")[2] in MANIFESTS


def scripts_of(texts: Iterable[str]) -> dict[tuple[str, str], str]:
    """The programs in some manifests: by (path of the module without its ending, function).

    Args:
        texts: the manifests' texts.
    """
    found: dict[tuple[str, str], str] = {}
    for text in texts:
        for program, module, function in _SCRIPT.findall(text):
            found.setdefault((module.replace(".", "/"), function), program)
    return found
