"""What the code imports is what ``pyproject.toml`` declares."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
SHIPPED = sum(EXTRAS.values(), start=PYPROJECT["project"]["dependencies"])
DEVELOPED = [*SHIPPED, *PYPROJECT["dependency-groups"]["dev"]]
OURS = {"auth", "gateway", "plugins", "benchmarks", "scripts", "tests"}


@pytest.mark.parametrize(
    ("folders", "declared"),
    [
        pytest.param(["auth", "gateway", "plugins"], SHIPPED, id="the portal"),
        pytest.param(["benchmarks", "scripts", "tests"], DEVELOPED, id="tests and tools"),
    ],
)
def test_every_import_is_declared(folders: list[str], declared: list[str]) -> None:
    names = {canonicalize_name(Requirement(line).name) for line in declared}
    providers = packages_distributions()
    undeclared = {
        f"{place}: {module}"
        for place, module in imports(folders)
        if not names & {canonicalize_name(name) for name in providers.get(module, [])}
    }
    assert undeclared == set()


def imports(folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Every file and top-level package of others that it imports, wherever in the file."""
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            if not {"node_modules", "accuracy"} & set(path.parts[:-2]):  # programs that are data
                for module in imported(ast.parse(path.read_text())):
                    beside = (path.parent / f"{module}.py").exists()
                    if not beside and module not in OURS | sys.stdlib_module_names:
                        yield str(path.relative_to(ROOT)), module


def imported(tree: ast.Module) -> Iterator[str]:
    """The top-level packages that a file imports.

    A namespace of several distributions counts as declared with any one of them.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]
