"""No module needs another that needs it, but where code follows a recursive structure."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp

RECURSIVE = ("plugins.codegraph.languages.typescript", "plugins.codegraph.linker")
"""Packages that walk syntax trees: an expression holds functions, and a function expressions."""


def within_one(importer: str, imported: str) -> bool:
    """Whether both modules belong to one of the recursive packages."""
    return any(
        importer.startswith(f"{package}.") and imported.startswith(f"{package}.")
        for package in RECURSIVE
    )


def test_no_import_goes_round_in_a_circle() -> None:
    graph = grimp.build_graph(
        "auth", "gateway", "plugins", exclude_type_checking_imports=True, cache_dir=None
    )
    needs = {
        module: {
            imported
            for imported in graph.find_modules_directly_imported_by(module)
            if not within_one(module, imported)
        }
        for module in graph.modules
    }
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        raise AssertionError(" is imported by ".join(error.args[1])) from None
