"""What is kept of branches, in each database."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gateway.services.database.service import OwnedDatabase
from plugins.codegraph.branches.branches import Branch, Branches
from plugins.codegraph.branches.tables import branches as table
from plugins.codegraph.branches.tables import metadata
from plugins.codegraph.store.layers import Change, LayerGone, Overlay, Stamp
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from tests.migrated import differences
from tests.plugins.codegraph.portal import NOON
from tests.plugins.codegraph.store.graphs import STAMP, register

OWNER = Owner("portal", "tree")


async def test_the_migration_makes_the_table_that_the_code_declares(
    database: OwnedDatabase,
) -> None:
    found = [str(each) for each in await differences(database, metadata)]
    assert [each for each in found if table.name in each] == []


async def served(database: OwnedDatabase, store: GraphStore) -> int:
    """A repository whose index has no files; returns its layer."""
    await register(database, OWNER)
    layers = store.layers(OWNER)
    base = await layers.begin(STAMP)
    await layers.serve(base, STAMP)
    return base


async def kept(database: OwnedDatabase, store: GraphStore, base: int, commit: str) -> Branch:
    """The branch spring, with a layer of a commit."""
    layers, branches = store.layers(OWNER), Branches(database)
    layer = await layers.begin(Stamp(commit, "spring"), (base, 0))
    made = Branch("spring", layer, commit, base, 0, "c", ("a.py",), NOON, NOON)
    async with layers.show(layer, "spring") as connection:
        await branches.put(connection, OWNER, made)
    return made


async def test_a_branch_is_kept_with_its_layer_and_takes_the_place_of_the_one_before(
    database: OwnedDatabase,
) -> None:
    store, branches = GraphStore(database), Branches(database)
    base = await served(database, store)
    first = await kept(database, store, base, "one")
    assert await branches.of(OWNER, "spring") == first
    second = await kept(database, store, base, "two")
    assert await branches.all(OWNER) == [second]
    with pytest.raises(LayerGone, match="dead"):
        async with store.layers(OWNER).serving(first.layer):
            pass
    assert await branches.of(Owner("portal", "other"), "spring") is None


async def test_a_push_that_is_told_while_a_branch_is_read_is_not_forgotten(
    database: OwnedDatabase,
) -> None:
    store, branches = GraphStore(database), Branches(database)
    base = await served(database, store)
    await kept(database, store, base, "one")
    assert await branches.note_push(OWNER, "spring", NOON + timedelta(seconds=1))
    again = await kept(database, store, base, "two")
    found = await branches.of(OWNER, "spring")
    assert found is not None
    assert (found.commit, found.moved) == (again.commit, True)
    await branches.note_look(OWNER, "spring", NOON + timedelta(seconds=2))
    found = await branches.of(OWNER, "spring")
    assert found is not None
    assert not found.moved
    assert not await branches.note_push(OWNER, "autumn", NOON)


async def test_a_branch_holds_over_the_index_that_it_was_made_over_alone(
    database: OwnedDatabase,
) -> None:
    store = GraphStore(database)
    made = await kept(database, store, await served(database, store), "one")
    view = await store.view(OWNER.org, OWNER.repo)
    assert view is not None
    assert made.lies_over(view)
    await store.layers(OWNER).rewrite(view.layer, Change([]), STAMP)
    view = await store.view(OWNER.org, OWNER.repo)
    assert view is not None
    assert not made.lies_over(view)


async def test_uncommitted_work_on_a_branch_and_the_branch_leave_each_other_alone(
    database: OwnedDatabase,
) -> None:
    store = GraphStore(database)
    base = await served(database, store)
    made = await kept(database, store, base, "one")
    over = Overlay("ada", "spring", "d", NOON + timedelta(hours=1), base, 0)
    await store.layers(OWNER).overlay(over, Change([]))
    async with store.layers(OWNER).serving(made.layer):
        pass
    again = await kept(database, store, base, "two")
    view = await store.view(OWNER.org, OWNER.repo, ("ada", "spring"))
    assert view is not None
    assert view.overlay is not None
    assert view.overlay.layer != again.layer


async def test_nothing_is_left_of_the_branches_of_a_repository_that_is_removed(
    database: OwnedDatabase,
) -> None:
    store, branches = GraphStore(database), Branches(database)
    await kept(database, store, await served(database, store), "one")
    assert await branches.leftovers("portal", "tree") == 1
    assert await branches.purge("portal", "tree") == 1
    await store.purge("portal", "tree")
    assert await branches.leftovers("portal", "tree") == 0
    assert await store.leftovers("portal", "tree") == {}
