"""What is told of each index leads from the graph before to the graph after, whatever happens."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from sqlalchemy import select

from plugins.codegraph.changes.history import ChangeHistory
from plugins.codegraph.changes.log import UpdateKind
from plugins.codegraph.changes.told import Side
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.store.tables import SELECTED, entities
from tests.examples import examples
from tests.plugins.codegraph.indexer import test_incremental
from tests.plugins.codegraph.indexer.bench import OWNER, Bench, git, write
from tests.plugins.codegraph.indexer.test_incremental import Files, Pair, few, histories, pair

pytestmark = pytest.mark.timeout(900)
runner, shared = test_incremental.runner, test_incremental.shared
Identity = tuple[str, str, str, str]
"""Kind, file, name and signature of an entity."""


async def identities(bench: Bench) -> dict[int, Identity]:
    """The entities that are served, by key."""
    view = await bench.store.view(OWNER.org, OWNER.repo)
    if view is None:
        return {}
    names = ("key", "kind", "path", "qualified", "signature")
    columns = [each for each in SELECTED if each.name in names]
    query = select(*columns).where(entities.c.layer == view.layer)
    async with bench.store.database.read() as connection:
        rows = (await connection.execute(query)).mappings().all()
    return {
        row["key"]: (str(row["kind"]), row["path"], row["qualified"], row["signature"])
        for row in rows
    }


def identity(side: Side) -> Identity:
    return str(side.kind_code), side.path, side.qualified, side.signature


async def newest(bench: Bench) -> int:
    """The number of the last index that changed something."""
    view = await bench.store.view(OWNER.org, OWNER.repo)
    assert view is not None
    found = await ChangeHistory(bench.store.database).updates(view, 1)
    return found[0].id if found else 0


async def replayed(bench: Bench, there: dict[int, Identity], after: int) -> dict[int, Identity]:
    """What the told changes make of a state."""
    view = await bench.store.view(OWNER.org, OWNER.repo)
    assert view is not None
    history = ChangeHistory(bench.store.database)
    there = dict(there)
    for update in reversed(await history.updates(view, 100, after=after)):
        assert update.kind is UpdateKind.ENTITIES
        told, total = await history.changes(view, [update.id], 10_000)
        assert total == len(told) == update.changed == update.kept
        for each in told:
            if each.told.before is not None:
                assert there.pop(each.told.before.key) == identity(each.told.before)
        for each in told:
            if each.told.after is not None:
                assert each.told.after.key not in there
                there[each.told.after.key] = identity(each.told.after)
    return there


async def step(both: Pair, *, anew: bool) -> None:
    """Index the tree, and compare what is told with what became of the graph."""
    bench = both.following
    before, last = await identities(bench), await newest(bench)
    if anew:
        await bench.indexer.rebuild(both.source)
    else:
        await bench.indexer.index(both.source)
    assert await replayed(bench, before, last) == await identities(bench)


@few
@given(states=histories())
def test_the_told_changes_of_any_history_lead_from_each_graph_to_the_next(
    runner: asyncio.Runner, shared: WorkerPool, codegraph_file: Path, states: list[Files]
) -> None:
    async def play() -> None:
        async with pair(codegraph_file, shared) as both:
            both.become(states[0])
            await both.following.index()
            for number, files in enumerate(states[1:]):
                both.become(files)
                await step(both, anew=number % 3 == 2)

    runner.run(play())


@settings(few, max_examples=examples(4, ordinary=2))
@given(states=histories())
def test_a_file_that_git_moved_is_told_as_renamed_and_never_as_gone(
    runner: asyncio.Runner, shared: WorkerPool, codegraph_file: Path, states: list[Files]
) -> None:
    text = "def take_all(basket):\n    return [each.pay() for each in basket]\n"

    async def play() -> None:
        async with pair(codegraph_file, shared) as both:
            both.become({**states[0], "main.py": text})
            git(both.root, "init", "-q", "-b", "main")
            commit(both.root, "It begins")
            await both.following.index()
            last = await newest(both.following)
            git(both.root, "mv", "main.py", "first.py")
            commit(both.root, "The beginning is called first\n\nAnd that is why.")
            await step(both, anew=False)
            view = await both.following.store.view(OWNER.org, OWNER.repo)
            assert view is not None
            history = ChangeHistory(both.following.store.database)
            (update,) = await history.updates(view, 5, after=last)
            assert (update.author, update.subject) == ("Ada", "The beginning is called first")
            assert update.is_commit
            told, _ = await history.changes(view, [update.id], 100, ["main.py"])
            assert {each.kind.value for each in told} == {"renamed"}
            assert {each.told.after.path for each in told if each.told.after} == {"first.py"}

    runner.run(play())


def commit(root: Path, message: str) -> None:
    write(root, "README.md", message)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)
