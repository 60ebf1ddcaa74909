"""Small programs, linked, as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.accuracy.harness import found_edges
from tests.plugins.codegraph.linker.in_memory import LinkedRepo, link_tree


def linked(files: Mapping[str, str]) -> LinkedRepo:
    """The graph of these files."""
    return link_tree("r", {path: dedent(text).encode() for path, text in files.items()})


def calls(files: Mapping[str, str]) -> set[str]:
    """The call edges, without the file where there is only one."""
    found = found_edges(linked(files), EdgeKind.CALLS)
    if len(files) > 1:
        return found
    (path,) = files
    return {each.replace(f"{path}::", "").replace(path, "file") for each in found}


def python(text: str) -> set[str]:
    """The call edges of one Python file."""
    return calls({"m.py": text})


def unresolved(files: Mapping[str, str]) -> set[str]:
    """The names whose calls stay open."""
    return {each.name for each in linked(files).unresolved}
