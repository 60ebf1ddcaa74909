"""Small graphs, and the repositories that they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import insert

from gateway.contract import Database
from plugins.codegraph.model import (
    Edge,
    EdgeKind,
    Entity,
    EntityKind,
    FileReport,
    Strategy,
    Unresolved,
    entity_key,
)
from plugins.codegraph.store.compression import Content, deflated
from plugins.codegraph.store.layers import Change, Overlay, Stamp
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import FileGraph
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.store.tables import repositories

SHOP = Owner("portal", "shop")
STAMP = Stamp(commit="c0ffee", branch="main")
Calls = Mapping[str, Sequence[str]]
"""What each function calls, both as ``path:name``."""


async def register(database: Database, owner: Owner) -> None:
    """Write a repository into the registry."""
    row = {
        "id": owner.repo,
        "org": owner.org,
        "name": f"{owner.org}-{owner.repo}",
        "kind": "path",
        "location": f"/srv/{owner.repo}",
        "tier": "public",
        "groups": [],
        "state": "active",
        "declared": False,
        "created": datetime.now(UTC),
    }
    async with database.begin() as connection:
        await connection.execute(insert(repositories).values(row))


def key_of(owner: Owner, name: str) -> int:
    """The key of a function, given as ``path:name``, or of a file."""
    path, _, own = name.partition(":")
    kind = EntityKind.FUNCTION if own else EntityKind.FILE
    return entity_key(owner.repo, path, kind, own or path, "()" if own else "")


def files_of(
    owner: Owner,
    calls: Calls,
    strategy: Strategy = Strategy.SCOPE,
    unresolved: Sequence[Unresolved] = (),
) -> list[FileGraph]:
    """Files with functions that call each other.

    Args:
        owner: whose they are.
        calls: what each function calls.
        strategy: how the calls were found.
        unresolved: calls whose target is not known.
    """
    paths = dict.fromkeys(name.partition(":")[0] for name in calls)
    return [_file(owner, path, calls, strategy, unresolved) for path in paths]


def _file(
    owner: Owner, path: str, calls: Calls, strategy: Strategy, unresolved: Sequence[Unresolved]
) -> FileGraph:
    file = key_of(owner, path)
    name = path.rpartition("/")[2]
    entities = [Entity(file, EntityKind.FILE, name, path, path, "python", 1, 99)]
    edges: list[Edge] = []
    own = [each for each in calls if each.partition(":")[0] == path]
    for line, each in enumerate(own, start=1):
        key, function = key_of(owner, each), each.partition(":")[2]
        doc = f"Does what {function} says."
        entities.append(
            Entity(
                *(key, EntityKind.FUNCTION, function, function, path, "python", line, line),
                *("()", doc, True, file),
            )
        )
        edges.append(Edge(EdgeKind.CONTAINS, file, key, path, line, Strategy.SYNTAX))
        edges += [
            Edge(EdgeKind.CALLS, key, key_of(owner, target), path, line, strategy)
            for target in calls[each]
        ]
    report = FileReport(path, f"{owner.repo} {path}", "python", len(own), 10 * len(own))
    mine = [each for each in unresolved if each.path == path]
    return FileGraph(report, entities=entities, edges=edges, unresolved=mine, interface="i")


async def serve(store: GraphStore, owner: Owner, files: Sequence[FileGraph]) -> int:
    """Write a layer and serve it; its number."""
    layers = store.layers(owner)
    layer = await layers.begin(STAMP)
    await layers.keep(layer, [text_of(each) for each in files])
    await layers.write(layer, files)
    await layers.serve(layer, STAMP)
    return layer


def text_of(file: FileGraph) -> Content:
    """A text for a file: its path."""
    return Content(file.report.digest, deflated(file.report.path.encode()))


async def cover(
    store: GraphStore, owner: Owner, person: str, files: Sequence[FileGraph], *gone: str
) -> int:
    """Write a person's uncommitted work over the layer that is served."""
    view = await store.view(owner.org, owner.repo)
    assert view is not None
    hidden = [FileGraph(FileReport(path, "", "", 0, 0, skipped=True), gone=True) for path in gone]
    expires = datetime.now(UTC) + timedelta(hours=12)
    overlay = Overlay(person, "main", "d", expires, view.layer, view.generation)
    change = Change([*files, *hidden], contents=[text_of(each) for each in files])
    return await store.layers(owner).overlay(overlay, change)


async def graph_of(store: GraphStore, owner: Owner, person: str | None = None) -> Graph:
    """The graph of a repository as it is served, or as a person sees it."""
    overlay = None if person is None else (person, None)
    view = await store.view(owner.org, owner.repo, overlay)
    assert view is not None
    return store.open(view)


async def callers(graph: Graph, owner: Owner, name: str, depth: int = 1) -> list[str]:
    """Who calls a function, as ``path:name``."""
    walk = await graph.walk([key_of(owner, name)], EdgeKind.CALLS, True, depth)
    return [f"{each.entity.path}:{each.entity.name}" for each in walk.reached]
