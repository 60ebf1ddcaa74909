"""A portal that is killed while it reads a branch reads all of it when it starts again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from gateway.contract import Condition, Host
from gateway.plugin_host import make_host
from gateway.testing import TestPortal
from gateway.toolkit.job_waiting import UNDER_WAY
from plugins.codegraph.branches.branches import Branch, Branches
from plugins.codegraph.git.working_copy import branch_ref
from plugins.codegraph.repositories.tables import work
from plugins.codegraph.search.embedder import EntityEmbedder
from plugins.codegraph.search.vectors import CodeVectors
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.tables import layers, repositories
from tests.conftest import new_database
from tests.examples import IS_THOROUGH
from tests.plugins.codegraph.branches.garden import pushed
from tests.plugins.codegraph.branches.killed_branch import EVICTIONS, MOMENTS, Place
from tests.plugins.codegraph.checkouts import run_git
from tests.plugins.codegraph.portal import WordsModel
from tests.plugins.codegraph.workspaces.desk import dump
from tests.servers.git_host import GitHost

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

FUNCTIONS = 70
"""Functions of a branch's file: more than are embedded at once."""
NOW = timedelta(0)


@pytest.fixture(params=["sqlite", "postgresql"])
async def place(
    request: pytest.FixtureRequest, host: GitHost, tree: Path, tmp_path: Path
) -> AsyncIterator[Place]:
    """Where the portal's data is: the main branch is indexed, and nothing else."""
    url, made = host.url("plants/garden.git"), Place("sqlite", str(tmp_path / "data"), "", "")
    made = replace(made, url=url, ca_file=str(host.ca_file))
    if request.param == "sqlite":
        yield made
        return
    async with new_database(request.getfixturevalue("postgres_url")) as database:
        yield replace(made, database=database)


class Kept:
    """What an open portal keeps of its one repository.

    Args:
        portal: the portal.
    """

    def __init__(self, portal: TestPortal) -> None:
        services = portal.running.services
        made = make_host(services.for_plugin("codegraph"), "codegraph", "Test")
        self.host: Host = replace(made, embedder=WordsModel())
        self.portal = portal
        self.store, self.branches = GraphStore(self.host.database), Branches(self.host.database)
        assert self.host.embedder is not None
        self.vectors = CodeVectors(self.host, self.host.embedder)

    async def settled(self) -> None:
        """Wait until no branch is read any more, and let go of what nobody reads any more."""
        jobs = self.portal.running.services.jobs.for_owner("codegraph")
        async with asyncio.timeout(300):
            while any(each.state in UNDER_WAY for each in await jobs.list("branch")):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        embedder = EntityEmbedder(self.host.database, self.store, self.vectors)
        await embedder.sweep()
        await self.store.sweep(NOW)

    async def view(self) -> RepositoryView:
        """The indexed branch."""
        async with self.host.database.read() as connection:
            row = (await connection.execute(select(repositories.c.org, repositories.c.id))).one()
        view = await self.store.view(*row)
        assert view is not None
        return view

    async def branch(self, name: str) -> Branch | None:
        view = await self.view()
        return await self.branches.of(Owner(view.org, view.id), name)

    async def graph(self, branch: Branch | None) -> dict[str, Any]:
        """All that the graph of a branch says, or that of the indexed one."""
        view = await self.view()
        return await dump(self.store.open(view if branch is None else branch.over(view)))

    async def scopes(self) -> Counter[int]:
        """The numbers of the layers that vectors are of, and how many."""
        collection, view = await self.vectors.collection(), await self.view()
        own = Condition("repo", (view.id,))
        found: Counter[int] = Counter()
        for layer in [0, *await self.layers()]:
            found[layer] = await collection.count([own, Condition("overlay", (layer,))])
        found[-1] = await collection.count([own]) - sum(found.values())
        return +found

    async def layers(self) -> Sequence[int]:
        """The numbers of all layers that there are."""
        async with self.host.database.read() as connection:
            return (await connection.scalars(select(layers.c.id).order_by(layers.c.id))).all()

    async def nothing_is_left(self) -> None:
        """Check that there is nothing but the index, and the branches that are kept."""
        view = await self.view()
        kept = await self.branches.all(Owner(view.org, view.id))
        over = [each.layer for each in kept]
        assert await self.layers() == sorted([view.layer, *over])
        assert set(await self.scopes()) <= {0, *over}
        async with self.host.database.read() as connection:
            assert set(await connection.scalars(select(work.c.holder))) == {""}
        mine = self.host.data_dir
        assert list((mine / "holders").iterdir()) == []
        (copy,) = (mine / "checkouts").iterdir()
        refs = run_git(copy, "for-each-ref", "--format=%(refname)", "refs/porch/branches")
        assert set(refs.split()) == {branch_ref(each.name) for each in kept}
        assert list(copy.rglob("*.lock")) == []
        assert list((copy / ".git" / "objects").rglob("tmp_*")) == []


def text(name: str) -> dict[str, str]:
    """A file of functions with a word of their own, and one that uses the first of them."""
    lines = [f"def {name}_{at}(): pass\n" for at in range(FUNCTIONS)]
    return {"water.py": "".join(lines), "use.py": f"from water import {name}_0\n{name}_0()\n"}


async def killed(place: Place, tmp_path: Path) -> None:
    """Run the portal until it has killed itself; nothing that it has started lives on."""
    own = tmp_path / "temporary"
    own.mkdir(exist_ok=True)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.plugins.codegraph.branches.killed_branch"),
        place.argument(),
        cwd=Path(__file__).parents[4],
        env={**os.environ, "TMPDIR": str(own)},
    )
    assert await process.wait() == -signal.SIGKILL, place.moment
    async with asyncio.timeout(60):
        while children(str(own)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    left = [each.name for each in own.iterdir() if not each.name.startswith("porch-test-")]
    assert left == []


def children(marker: str) -> list[str]:
    """What processes there are with a directory of temporary files."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if f"TMPDIR={marker}".encode() in (each / "environ").read_bytes().split(b"\0"):
                found.append((each / "cmdline").read_text())
        except OSError:
            continue  # it has ended, or is somebody else's
    return found


async def whole(kept: Kept, now: Place, commit: str, before: dict[str, Any]) -> None:
    """Check that a branch is read whole once a portal is open again."""
    await kept.settled()
    found = await kept.branch(now.branch)
    assert found is not None, now.moment
    assert (found.commit, found.lies_over(await kept.view())) == (commit, True), now.moment
    await kept.nothing_is_left()
    assert await kept.graph(None) == before, now.moment
    # The same commit under another name, read by a portal that nobody kills.
    await ask(kept.portal, f"{now.branch}-again")
    witness = await kept.branch(f"{now.branch}-again")
    assert witness is not None
    assert await kept.graph(found) == await kept.graph(witness), now.moment
    scopes = await kept.scopes()
    assert scopes[found.layer] == scopes[witness.layer] == FUNCTIONS, now.moment


async def ask(portal: TestPortal, branch: str) -> None:
    """Have a branch read."""
    answer = await portal.call("get_project_stats", {"branch": branch})
    assert not answer.is_error, answer.text


async def test_a_branch_whose_portal_is_killed_is_read_whole_and_leaves_nothing_behind(
    place: Place, tree: Path, tmp_path: Path
) -> None:
    every = [*MOMENTS, *EVICTIONS]
    # Each moment comes in every run; in a thorough one, in both databases.
    moments = every if IS_THOROUGH else every[place.database != "sqlite" :: 2]
    places = [replace(place, branch=f"b{at}", moment=each) for at, each in enumerate(moments)]
    async with place.portal() as portal:
        assert not (await portal.call("get_function", {"name": "pour"})).is_error
        before = await Kept(portal).graph(None)
        await prepare(portal, tree, places[0])
    for now, after in pairwise([*places, None]):
        assert now is not None
        commit = pushed(tree, now.branch, text(f"{now.branch}_second"))
        run_git(tree, "push", "-q", "origin", f"{now.branch}:{now.branch}-again")
        await killed(now, tmp_path)
        async with place.portal() as portal:
            await whole(Kept(portal), now, commit, before)
            if after is not None:
                await prepare(portal, tree, after)


async def prepare(portal: TestPortal, tree: Path, place: Place) -> None:
    """Where a branch is to be read again, have another commit of it be read before."""
    if place.moment in MOMENTS:
        pushed(tree, place.branch, text(f"{place.branch}_first"))
        await ask(portal, place.branch)
