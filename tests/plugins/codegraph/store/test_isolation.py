"""A graph never shows a row of another organisation, repository or person."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway.services.database.service import open_database
from plugins.codegraph.model import EdgeKind, Entity, Unresolved
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import FileGraph
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.stored_graph import Graph
from tests.examples import examples
from tests.plugins.codegraph.store.graphs import (
    cover,
    files_of,
    graph_of,
    key_of,
    register,
    serve,
)

OWNERS = (Owner("portal", "one"), Owner("portal", "two"), Owner("guild", "three"))
PEOPLE = ("alice", "bob")
FUNCTIONS = ("a.py:add", "a.py:pay", "b.py:add", "b.py:take")
CALLS = st.dictionaries(
    st.sampled_from(FUNCTIONS), st.lists(st.sampled_from(FUNCTIONS), max_size=3), min_size=1
)
Calls = dict[str, list[str]]
NAMES = ("add", "pay", "take", "a.py")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@settings(
    max_examples=examples(12, ordinary=5),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    whole=st.fixed_dictionaries(dict.fromkeys(OWNERS, CALLS)),
    edited=st.dictionaries(st.tuples(st.sampled_from(OWNERS), st.sampled_from(PEOPLE)), CALLS),
)
def test_every_answer_is_of_one_repository_and_one_persons_work(
    request: pytest.FixtureRequest,
    kind: str,
    whole: dict[Owner, Calls],
    edited: dict[tuple[Owner, str], Calls],
) -> None:
    with TemporaryDirectory() as directory:
        address = "sqlite"
        if kind == "sqlite":
            shutil.copy(request.getfixturevalue("codegraph_file"), directory)
        else:
            emptied: Callable[[], str] = request.getfixturevalue("codegraph_postgres")
            address = emptied()
        asyncio.run(_play(address, Path(directory), whole, edited))


async def _play(
    address: str, directory: Path, whole: dict[Owner, Calls], edited: dict[tuple[Owner, str], Calls]
) -> None:
    service = open_database(address, directory)
    store = GraphStore(service.for_owner("codegraph"))
    try:
        for owner, calls in whole.items():
            await register(store.database, owner)
            await serve(store, owner, _files(owner, calls, owner.repo))
        for (owner, person), calls in edited.items():
            await cover(store, owner, person, _files(owner, calls, person))
        for owner in OWNERS:
            for reader in (None, *PEOPLE):
                mark = reader if reader and (owner, reader) in edited else None
                await _check(await graph_of(store, owner, reader), owner, mark)
    finally:
        await service.close()


def _files(owner: Owner, calls: Calls, mark: str) -> list[FileGraph]:
    """Files whose docs and unresolved names say whose they are."""
    unresolved = [Unresolved("a.py", "free", 1), Unresolved("a.py", f"of {mark}", 1)]
    files = files_of(owner, calls, unresolved=unresolved)
    marked = f"{owner.org} {owner.repo} {mark}"
    return [
        replace(file, entities=[replace(each, doc=marked) for each in file.entities])
        for file in files
    ]


async def _check(graph: Graph, owner: Owner, person: str | None) -> None:
    """All that can be asked gives this repository's entities alone."""
    allowed = {f"{owner.org} {owner.repo} {owner.repo}"}
    if person is not None:
        allowed.add(f"{owner.org} {owner.repo} {person}")
    shown: list[Entity] = [entity for _, entity in await graph.page()]
    for name in NAMES:
        shown += await graph.find(name)
        shown += await graph.nearest(name)
    shown += [entity for entity, _ in await graph.words("add pay take portal guild", 100)]
    every = [key_of(other, name) for other in OWNERS for name in (*FUNCTIONS, "a.py", "b.py")]
    shown += (await graph.entities(every)).values()
    for key in every:
        shown += await graph.contained(key)
    for incoming in (True, False):
        walk = await graph.walk(every, list(EdgeKind), incoming, depth=5)
        shown += [each.entity for each in walk.reached]
    for path in ("a.py", "b.py"):
        shown += await graph.in_file(path)
    assert {entity.doc for entity in shown} <= allowed
    for other in (*PEOPLE, *(each.repo for each in OWNERS)):
        if other not in (owner.repo, person):
            assert (await graph.unresolved(f"of {other}")).total == 0
    reports = await graph.reports(problems_only=False)
    assert {each.digest.partition(" ")[0] for each in reports} <= {owner.repo}
