"""A graph of 100,000 made-up functions that call each other, with made-up vectors."""

from __future__ import annotations

import random

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
from plugins.codegraph.store.contents import Content, deflated
from plugins.codegraph.store.layers import Stamp
from plugins.codegraph.store.owners import Owner
from plugins.codegraph.store.rows import FileGraph

REPO = "many"
ENTITIES, A_FILE, CALLS = 100_000, 50, 5
_BATCH = 2_000
_VERBS = "read write parse send load save check find merge split sign open close build run "
_NOUNS = (
    "session cookie request response header template token user group file cache "
    "query index page form upload stream range route path error frame loop value "
    "option command prompt editor color table column width help text line buffer "
    "socket event task queue lock time date zone number "
)


async def fill(opened: CodeLibrary, seed: int = 1) -> None:
    """Write the graph, serve it, and store a vector for each function."""
    await opened.register(REPO)
    chance = random.Random(seed)
    layers = opened.store.layers(Owner(ORG, REPO))
    layer = await layers.begin(Stamp())
    functions = [_function(number, chance) for number in range(ENTITIES)]
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


def _function(number: int, chance: random.Random) -> Entity:
    words = [chance.choice(_VERBS.split()), *chance.sample(_NOUNS.split(), 2)]
    name = f"{'_'.join(words)}_{number}"
    path = f"package{number // 5_000}/module{number // A_FILE}.py"
    key = entity_key(REPO, path, EntityKind.FUNCTION, name, "(self, value)")
    line = number % A_FILE * 12 + 1
    doc = f"{words[0].capitalize()} the {words[1]} of a {chance.choice(_NOUNS.split())}."
    return Entity(
        *(key, EntityKind.FUNCTION, name, name, path, "python", line, line + 10),
        *("(self, value)", doc, True, entity_key(REPO, path, EntityKind.FILE, path, "")),
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
