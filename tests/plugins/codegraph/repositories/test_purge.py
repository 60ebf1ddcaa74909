"""Nothing is left of a removed repository, whatever fails on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from gateway.contract import Database
from gateway.services.objects import open_objects
from plugins.codegraph.repositories.build import PlainSteps
from plugins.codegraph.repositories.leases import Busy
from plugins.codegraph.repositories.purge import (
    Deletion,
    Purgeable,
    PurgeableFiles,
    PurgeableObjects,
    PurgeFailed,
    Purger,
)
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.repositories.tables import metadata, work
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.tables import LAYERED, SHARED, layers, repositories
from tests.plugins.codegraph.repositories.parts import World, world
from tests.plugins.codegraph.store.graphs import files_of, serve

CALLS = {"a.py:one": ["a.py:two"], "a.py:two": []}


@pytest.fixture
def there(database: Database, tmp_path: Path) -> World:
    return world(database, tmp_path / "copies")


class Stubborn:
    """Keeps three things, and deletes them only when it is allowed."""

    def __init__(self) -> None:
        self.things = 3
        self.allowed = False

    async def purge(self, org: str, repo: str) -> int:
        if not self.allowed:
            raise OSError("The disk cannot be written.")
        gone, self.things = self.things, 0
        return gone

    async def leftovers(self, org: str, repo: str) -> int:
        return self.things


async def served(there: World, name: str = "garden") -> Repository:
    repository = await there.add(name, f"/srv/{name}")
    owner = Owner(repository.org, repository.id)
    await serve(GraphStore(there.database), owner, files_of(owner, CALLS))
    return await there.repositories.get(name)


def purger(there: World, *, whole: bool = True, **kept: Purgeable) -> Purger:
    rows: Mapping[str, Purgeable] = {"rows": GraphStore(there.database), **kept}
    return Purger(there.database, there.work, rows, there.clock, whole=whole)


async def logged(purges: Purger) -> Deletion:
    [entry] = await purges.log()
    return entry


async def rows_of(there: World, repo: str) -> int:
    count = 0
    async with there.database.read() as connection:
        for table in (*LAYERED, *SHARED, layers):
            found = await connection.execute(select(table).where(table.c.repo == repo))
            count += len(found.all())
        for column in (work.c.repo, repositories.c.id):
            found = await connection.execute(select(column).where(column == repo))
            count += len(found.all())
    return count


async def test_a_removal_leaves_nothing_but_its_entry_in_the_log(
    there: World, tmp_path: Path
) -> None:
    repository, other = await served(there), await served(there, "other")
    objects = open_objects("embedded", tmp_path).scoped("codegraph")
    for each in (repository, other):
        await objects.put(f"{each.id}/export", b"x")
        (tmp_path / "copies" / each.id).mkdir(parents=True)
        (tmp_path / "copies" / each.id / "a.py").write_text("x")
    before = await rows_of(there, other.id)
    files = PurgeableFiles(tmp_path / "copies", tmp_path / "nowhere")
    purges = purger(there, files=files, objects=PurgeableObjects(objects))
    counts = await purges.purge(await there.repositories.remove("garden"), "me")
    assert counts["files"] == counts["objects"] == 1
    assert counts["codegraph_entities"] == 3
    entry = await logged(purges)
    assert (entry.name, entry.completed, entry.error) == ("garden", there.clock(), "")
    assert await rows_of(there, repository.id) == 0
    assert await rows_of(there, other.id) == before
    assert [info.key async for info in objects.list()] == [f"{other.id}/export"]
    assert [each.name for each in (tmp_path / "copies").iterdir()] == [other.id]


async def test_what_fails_is_tried_again_with_growing_pauses(there: World) -> None:
    await served(there)
    stubborn = Stubborn()
    purges = purger(there, vectors=stubborn)
    entry = await there.repositories.remove("garden")
    pauses = []
    for _ in range(10):
        with pytest.raises(PurgeFailed, match="vectors: The disk cannot be written"):
            await purges.purge(entry, "me")
        began, noted = there.clock(), await logged(purges)
        while not noted.is_due(there.clock()):
            there.clock.passes(seconds=5)
        pauses.append((there.clock() - began).total_seconds())
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (20, 3600)
    stubborn.allowed = True
    counts = await purges.purge(entry, "me")
    assert counts["vectors"] == 3
    assert counts["codegraph_entities"] == 3, "the first attempt counted them"
    assert not (await logged(purges)).is_due(there.clock())


async def test_what_is_there_still_after_a_purge_is_no_success(there: World) -> None:
    class Liar(Stubborn):
        async def purge(self, org: str, repo: str) -> int:
            return self.things

    await served(there)
    purges = purger(there, vectors=Liar())
    with pytest.raises(PurgeFailed, match="3 of vectors are there still"):
        await purges.purge(await there.repositories.remove("garden"), "me")
    assert (await logged(purges)).completed is None


async def test_a_purge_waits_for_whoever_works_on_the_repository(there: World, tree: Path) -> None:
    repository = await there.add("garden", tree)
    making = asyncio.create_task(there.making.make(repository, "me", PlainSteps()))
    async with asyncio.timeout(60):
        while True:
            if there.index.begun:
                break
            await asyncio.sleep(0.01)
    purges = purger(there)
    entry = await there.repositories.remove("garden")
    with pytest.raises(Busy):
        await purges.purge(entry, "the purge")
    await asyncio.gather(making, return_exceptions=True)
    await purges.purge(entry, "the purge")
    assert await rows_of(there, repository.id) == 0


async def test_what_a_command_purges_stays_open_for_the_portal(there: World) -> None:
    repository = await served(there)
    entry = await there.repositories.remove("garden")
    await purger(there, whole=False).purge(entry, "command")
    purges = purger(there, vectors=Stubborn())
    assert (await logged(purges)).is_due(there.clock())
    with pytest.raises(PurgeFailed):
        await purges.purge(entry, "me")
    assert await rows_of(there, repository.id) > 0, "its row in the registry"


async def test_the_audit_opens_again_what_something_is_left_of(there: World) -> None:
    await served(there)
    stubborn = Stubborn()
    stubborn.allowed = True
    purges = purger(there, vectors=stubborn)
    entry = await there.repositories.remove("garden")
    await purges.purge(entry, "me")
    assert await purges.audit() == []
    assert (await logged(purges)).completed is not None
    stubborn.things = 2
    await purges.audit()
    found = await logged(purges)
    assert found.completed is None
    assert "2 of vectors" in found.error
    await purges.purge(entry, "me")
    assert (await logged(purges)).completed is not None


async def test_the_audit_names_what_takes_longer_than_a_day(there: World) -> None:
    await served(there)
    purges = purger(there, vectors=Stubborn())
    await there.repositories.remove("garden")
    there.clock.passes(hours=23)
    assert await purges.audit() == []
    there.clock.passes(hours=2)
    assert [each.name for each in await purges.audit()] == ["garden"]


async def test_the_audit_finds_rows_that_no_repository_has(there: World) -> None:
    row = {"org": "portal", "repo": "feedfeedfeedfeed", "kind": "base", "state": "ready"}
    async with there.database.begin() as connection:
        await connection.execute(insert(layers).values(**row, created=there.clock()))
    purges = purger(there)
    await purges.audit()
    await purges.audit()
    entry = await logged(purges)
    await purges.purge(entry.id, "me")
    assert await rows_of(there, "feedfeedfeedfeed") == 0


async def test_purging_what_is_purged_is_no_error(there: World) -> None:
    await served(there)
    purges = purger(there)
    entry = await there.repositories.remove("garden")
    counts = await purges.purge(entry, "me")
    assert await purges.purge(entry, "me") == counts
    assert await purges.purge("no such entry", "me") == {}


def test_the_tables_are_those_that_the_migrations_make(codegraph_file: Path) -> None:
    import sqlite3

    with closing(sqlite3.connect(codegraph_file)) as connection:
        for table in metadata.tables.values():
            found = connection.execute(f"PRAGMA table_info({table.name})").fetchall()
            assert [each[1] for each in found] == [column.name for column in table.c]
