"""A graph of 100,000 functions that call each other at random, with made-up vectors.

Their names and docs are those of real packages, over and over, so that words are as frequent and as
rare as they are in code.
"""

from __future__ import annotations

import ast
import importlib.util
import random
from pathlib import Path

import numpy as np

from benchmarks.code_library import ORG, CodeLibrary
from plugins.codegraph.model import (
    Edge,
    EdgeKind,
    Entity,
    EntityKind,
    FileReport,
    Strategy,
    entity_key,
)
from plugins.codegraph.search.vectors import CodeVectors
from plugins.codegraph.store.compression import Content, deflated
from plugins.codegraph.store.layers import Stamp
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import FileGraph

REPO = "many"
ENTITIES, A_FILE, CALLS = 100_000, 50, 5
_BATCH = 2_000
Told = tuple[str, str, str]
"""A function's name, its parameters and what it says of itself."""


async def fill(opened: CodeLibrary, seed: int = 1) -> None:
    """Write the graph, serve it, and store a vector for each function."""
    await opened.register(REPO)
    chance = random.Random(seed)
    layers = opened.store.layers(Owner(ORG, REPO))
    layer = await layers.begin(Stamp())
    told = [each for package in ("starlette", "click", "jinja2") for each in _told(package)]
    functions = [_function(number, told[number % len(told)]) for number in range(ENTITIES)]
    for start in range(0, ENTITIES, _BATCH):
        files = [
            _file(functions[at : at + A_FILE], functions, chance)
            for at in range(start, start + _BATCH, A_FILE)
        ]
        await layers.keep(layer, [Content(f.report.digest, deflated(b"x = 1\n")) for f in files])
        await layers.write(layer, files)
    await layers.serve(layer, Stamp())
    await _vectors(opened, [each.key for each in functions], seed)


async def _vectors(opened: CodeLibrary, keys: list[int], seed: int) -> None:
    embedder = opened.host.embedder
    assert embedder is not None
    vectors = CodeVectors(opened.host, embedder)
    dimensions = embedder.dimensions
    made = np.random.default_rng(seed).normal(size=(len(keys), dimensions)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    for start in range(0, len(keys), _BATCH):
        some = keys[start : start + _BATCH]
        await vectors.put(ORG, REPO, dict(zip(some, made[start : start + _BATCH], strict=True)))
    await (await vectors.collection()).flush()


def _told(package: str) -> list[Told]:
    """What the functions of an installed package are called, and say."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    found: list[Told] = []
    for file in sorted(Path(spec.submodule_search_locations[0]).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                doc = ast.get_docstring(node) or ""
                found.append((node.name, f"({ast.unparse(node.args)})", doc[:2_000]))
    return found


def _function(number: int, told: Told) -> Entity:
    name, signature, doc = told
    path = f"package{number // 5_000}/module{number // A_FILE}.py"
    key = entity_key(REPO, path, EntityKind.FUNCTION, name, signature, number)
    line = number % A_FILE * 12 + 1
    return Entity(
        *(key, EntityKind.FUNCTION, name, name, path, "python", line, line + 10),
        *(signature, doc, True, entity_key(REPO, path, EntityKind.FILE, path, "")),
    )


def _file(some: list[Entity], every: list[Entity], chance: random.Random) -> FileGraph:
    path, parent = some[0].path, some[0].parent
    assert parent is not None
    file = Entity(parent, EntityKind.FILE, path.split("/")[1], path, path, "python", 1, 600)
    edges = [
        Edge(EdgeKind.CALLS, each.key, target.key, path, each.line + 1, Strategy.IMPORT)
        for each in some
        for target in chance.sample(every, CALLS)
    ]
    report = FileReport(path, f"digest of {path}", "python", 600, 20_000)
    return FileGraph(report, entities=[file, *some], edges=edges)
