"""Real Python packages: their call graph as Porch has it, and as it was traced.

``python -m benchmarks.real_packages NAME COUNT`` prints edges of a package that nobody has judged
yet, with the lines that make them, for ``data/codegraph_edges.json``.
"""

from __future__ import annotations

import ast
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.table import Unmeasurable
from benchmarks.trees import python_tree
from plugins.codegraph.model import EdgeKind, Entity, EntityKind
from tests.plugins.codegraph.linker.in_memory import LinkedRepo, link_tree

JUDGED = Path(__file__).parent / "data" / "codegraph_edges.json"
PROJECT = Path(__file__).parents[1]

Pair = tuple[str, str]
"""Who calls and who is called, each as ``path::qualified``, or the path for a file's own body."""


@dataclass(frozen=True)
class RealPackage:
    """A package with tests of its own.

    Attributes:
        name, version: of the source distribution.
        source: where in it the code lies.
    """

    name: str
    version: str
    source: str = "src"

    @cached_property
    def root(self) -> Path:
        """The unpacked source distribution."""
        return python_tree(self.name, self.version)

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """The code, by path below ``source``."""
        code = self.root / self.source
        return {p.relative_to(code).as_posix(): p.read_bytes() for p in sorted(code.rglob("*.py"))}

    @cached_property
    def linked(self) -> LinkedRepo:
        """The package as the code graph has it."""
        return link_tree(self.name, self.files)

    @cached_property
    def calls(self) -> frozenset[Pair]:
        """Every call edge."""
        names = {entity.key: shown(entity) for entity in self.linked.entities}
        edges = (edge for edge in self.linked.edges if edge.kind is EdgeKind.CALLS)
        return frozenset((names[edge.source], names[edge.target]) for edge in edges)

    @cached_property
    def traced(self) -> frozenset[Pair]:
        """The calls that were seen while the package's tests ran.

        Reading a property is no call that the text shows, so those are left out.

        Raises:
            Unmeasurable: the tests did not run.
        """
        with tempfile.TemporaryDirectory() as directory:
            out = Path(directory) / "pairs.json"
            done = subprocess.run(
                [sys.executable, *_PYTEST, "tests"],
                cwd=self.root,
                env=os.environ | _tracing(self.root / self.source, out),
                capture_output=True,
                text=True,
            )
            if not out.exists():
                raise Unmeasurable(f"The tests of {self.name} did not run: {done.stdout[-300:]}")
            pairs = [
                (_place(caller), _place(callee)) for caller, callee in json.loads(out.read_text())
            ]
        properties = {f"{path}::{name}" for path in self.files for name in self._properties(path)}
        return frozenset((caller, callee) for caller, callee in pairs if callee not in properties)

    def through_a_base(self, pair: Pair) -> bool:
        """Whether there is an edge to a method that the one called overrides."""
        caller, callee = pair
        owner, _, method = callee.rpartition(".")
        return any((caller, f"{base}.{method}") in self.calls for base in self._bases(owner))

    def verdicts(self) -> dict[Pair, bool]:
        """The edges that were judged, and whether they are right."""
        judged = json.loads(JUDGED.read_text()) if JUDGED.exists() else {}
        return {(each[0], each[1]): each[2] for each in judged.get(self.name, ())}

    def _bases(self, owner: str) -> set[str]:
        found: set[str] = set()
        waiting = [owner]
        while waiting:
            new = self._extends[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    @cached_property
    def _extends(self) -> defaultdict[str, set[str]]:
        names = {entity.key: shown(entity) for entity in self.linked.entities}
        bases: defaultdict[str, set[str]] = defaultdict(set)
        for edge in self.linked.edges:
            if edge.kind is EdgeKind.EXTENDS:
                bases[names[edge.source]].add(names[edge.target])
        return bases

    def _properties(self, path: str) -> set[str]:
        found: set[str] = set()

        def visit(node: ast.AST, prefix: str) -> None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    name = f"{prefix}{child.name}"
                    if any("property" in ast.unparse(each) for each in child.decorator_list):
                        found.add(name)
                    visit(child, f"{name}.")
                else:
                    visit(child, prefix)

        visit(ast.parse(self.files[path]), "")
        return found


PACKAGES = (RealPackage("click", "8.5.1"), RealPackage("jinja2", "3.1.6"))

_PYTEST = (
    *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "benchmarks.call_tracer"),
    "--continue-on-collection-errors",
)


def shown(entity: Entity) -> str:
    """An entity as a pair names it."""
    if entity.kind is EntityKind.FILE:
        return entity.path
    return f"{entity.path}::{entity.qualified}"


def _place(place: tuple[str, str]) -> str:
    path, name = place
    return f"{path}::{name}" if name else path


def _tracing(code: Path, out: Path) -> dict[str, str]:
    paths = f"{code}{os.pathsep}{PROJECT}"
    return {"TRACED_ROOT": str(code), "TRACED_OUT": str(out), "PYTHONPATH": paths}


def _print_sample(name: str, count: int) -> None:
    [package] = [each for each in PACKAGES if each.name == name]
    names = {entity.key: shown(entity) for entity in package.linked.entities}
    known = package.verdicts()
    edges = {
        (names[edge.source], names[edge.target]): edge
        for edge in package.linked.edges
        if edge.kind is EdgeKind.CALLS
    }
    unknown = sorted(edges.keys() - known.keys())
    for pair in random.Random(len(known)).sample(unknown, min(count, len(unknown))):
        edge = edges[pair]
        line = package.files[edge.path].splitlines()[edge.line - 1].decode().strip()
        print(json.dumps([*pair]), f"{edge.strategy.value} {edge.path}:{edge.line}: {line}")


if __name__ == "__main__":
    _print_sample(sys.argv[1], int(sys.argv[2]))
