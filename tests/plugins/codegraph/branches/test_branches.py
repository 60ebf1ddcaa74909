"""A branch other than the indexed one is asked about like that one, and changes nothing of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from gateway.plugin_host import make_host
from plugins.codegraph.branches import branch_graphs
from plugins.codegraph.indexer import tree_edits
from plugins.codegraph.store.layers import LayerGone, Stamp
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.tables import repositories
from tests.plugins.codegraph.branches.garden import Garden, garden, pushed
from tests.plugins.codegraph.checkouts import run_git
from tests.servers.git_host import GitHost

SPRAY = {"water.py": "def spray(): pass\n", "use.py": "from water import spray\nspray()\n"}
INDEXED_ONLY = {"get_blueprint", "search_by_purpose", "get_health_report", "get_recent_changes"}
"""Tools whose facts are the indexed branch's alone, as their descriptions say."""
WRITING = {"correct_justification", "get_workspace", "refresh_index"}
"""Tools that take no branch, since they change something or tell of uncommitted work."""


@pytest.fixture
async def asked(host: GitHost, tree: Path) -> AsyncIterator[Garden]:
    async with garden(host, tree, most_branches=2) as made:
        yield made


async def test_a_branch_answers_with_what_differs_and_the_rest_as_on_the_indexed_one(
    asked: Garden,
) -> None:
    commit = asked.push("feature/hose", SPRAY)
    found = await asked.ask("get_callers", "feature/hose", name="spray")
    assert [each["file"] for each in found["data"]] == ["use.py"]
    meta = found["meta"]
    assert (meta["branch"], meta["commit"]) == ("feature/hose", commit[:12])
    assert (meta["otherBranch"]["files"], meta["completeness"]["state"]) == (2, "complete")
    assert not await asked.knows("pour", "feature/hose")
    assert (await asked.ask("get_file", "feature/hose", file="lib/seed.py"))["lines"] == 1
    assert (await asked.ask("get_project_stats", "feature/hose"))["files"] == 3
    assert await asked.knows("pour", None)
    assert not await asked.knows("spray", None)
    indexed = await asked.ask("get_project_stats", "main")
    assert (indexed["files"], indexed["meta"].get("otherBranch")) == (2, None)
    assert await asked.jobs() == 1


async def test_a_branch_is_made_once_for_two_who_ask_at_once_and_kept_for_the_next(
    asked: Garden,
) -> None:
    asked.push("spring", SPRAY)
    both = await asyncio.gather(*(asked.knows("spray", "spring") for _ in range(3)))
    assert (both, await asked.jobs()) == ([True] * 3, 1)
    assert await asked.knows("spray", "spring")
    assert await asked.jobs() == 1


@pytest.mark.parametrize("name", ["release/1.0", "fix/#42-größe", "a.b", "dependabot/npm/@types/x"])
async def test_a_branch_may_have_any_name_that_git_allows(
    host: GitHost, tree: Path, name: str
) -> None:
    pushed(tree, name, SPRAY)
    async with garden(host, tree) as asked:
        assert await asked.knows("spray", name)


async def test_a_branch_that_is_not_there_is_told_with_those_that_may_be_meant(
    asked: Garden,
) -> None:
    asked.push("feature/hose", SPRAY)
    told = await asked.refused("feature/hoes")
    assert "garden has no branch 'feature/hoes'. Is feature/hose meant?" in told
    assert "There: feature/hose, main." in told
    for name in ("--upload-pack=x", "a..b", "refs/heads/*", "", "x" * 300):
        assert "is not the name of a branch" in await asked.refused(name)


async def test_what_became_of_a_branch_is_looked_for_again(
    asked: Garden, host: GitHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branch_graphs, "CHECK_INTERVAL", timedelta(0))
    asked.push("a", SPRAY)
    assert await asked.knows("spray", "a")
    asked.push("a", {"rake.py": "def rake(): pass\n"}, force=True)
    assert await asked.knows("rake", "a")
    assert not await asked.knows("spray", "a")
    # A host that does not answer takes nothing away; what was never read cannot be.
    host.leads_to = "https://127.0.0.1:9/"
    assert await asked.knows("rake", "a")
    assert "The branch b of garden was not read" in await asked.refused("b")
    host.leads_to = None
    asked.delete("a")
    assert "garden has no branch 'a'" in await asked.refused("a")
    asked.push("a/b", SPRAY)
    assert await asked.knows("spray", "a/b")


async def test_a_branch_lies_over_the_index_as_it_is_now(asked: Garden) -> None:
    asked.push("spring", SPRAY)
    assert not await asked.knows("pour", "spring")
    pushed(asked.tree, "main", {"shed.py": "def shed(): pass\n"}, gone=("lib/seed.py",))
    await asked.portal.call("refresh_index", {})
    assert (await asked.ask("get_file", "spring", file="lib/seed.py"))["lines"] == 1
    assert not await asked.knows("shed", "spring")
    assert await asked.knows("spray", "spring")


async def test_the_branch_that_was_asked_about_longest_ago_goes_first(asked: Garden) -> None:
    for name in ("one", "two", "three"):
        asked.push(name, {f"{name}.py": f"def {name}(): pass\n"})
        assert await asked.knows(name, name)
    assert await asked.jobs() == 3
    assert await asked.knows("three", "three")
    assert await asked.knows("two", "two")
    assert await asked.jobs() == 3
    assert await asked.knows("one", "one")
    assert await asked.jobs() == 4


async def test_a_layer_that_was_being_written_ends_also_where_its_branch_is_gone_meanwhile(
    asked: Garden,
) -> None:
    services = asked.portal.running.services.for_plugin("codegraph")
    store = GraphStore(make_host(services, "codegraph", "Test").database)
    async with store.database.read() as connection:
        row = (await connection.execute(select(repositories.c.org, repositories.c.id))).one()
    view = await store.view(*row)
    assert view is not None
    layers = store.layers(Owner(*row))
    left = await layers.begin(Stamp("c", "spring"), (view.layer, view.generation))
    await asked.refused("spring")
    with pytest.raises(LayerGone, match="dead, not building"):
        async with layers.show(left, "spring"):
            pass


async def test_a_branch_that_has_little_in_common_is_left_to_an_index_of_its_own(
    asked: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_edits, "MAX_FILES", 1)
    asked.push("spring", SPRAY)
    told = await asked.refused("spring")
    assert "differs from the indexed one in 2 files" in told
    assert "porch codegraph add ADDRESS --branch BRANCH" in told


async def test_every_tool_that_reads_the_graph_takes_a_branch(asked: Garden) -> None:
    tools = await asked.portal.tools()
    without = {
        name for name, each in tools.items() if "branch" not in each["inputSchema"]["properties"]
    }
    assert without == INDEXED_ONLY | WRITING
    silent = {each for each in INDEXED_ONLY if "indexed branch" not in tools[each]["description"]}
    assert silent == set()


async def test_who_may_not_see_a_repository_hears_nothing_of_its_branches(
    host: GitHost, tree: Path
) -> None:
    pushed(tree, "spring", SPRAY)
    address = host.url("plants/garden.git")
    repositories = [{"url": address, "tier": "members"}]
    async with garden(host, tree, repositories=repositories) as asked:
        arguments = {"branch": "spring", "repo": "garden"}
        told = await asked.portal.call("get_project_stats", arguments, tier="public")
        assert "no repository" in told.text
        assert await asked.jobs() == 0
        seen = await asked.portal.call("get_project_stats", arguments, tier="members")
        assert not seen.is_error


async def test_the_branches_of_a_directory_are_those_of_its_own_git(
    host: GitHost, tree: Path, tmp_path: Path
) -> None:
    pushed(tree, "spring", SPRAY)
    run_git(tree, "branch", "-D", "spring")  # origin has it still
    run_git(tree, "branch", "mine", "main")
    (tree / "draft.py").write_text("def draft(): pass\n")
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text("def a(): pass\n")
    repositories = [{"path": str(tree), "tier": "open"}, {"path": str(plain), "tier": "open"}]
    async with garden(host, tree, repositories=repositories) as asked:
        ask = {"repo": "garden"}
        assert (await asked.ask("get_project_stats", None, **ask))["files"] == 3
        mine = await asked.ask("get_project_stats", "mine", **ask)
        assert (mine["files"], mine["meta"]["otherBranch"]["files"]) == (2, 1)
        spring = await asked.ask("get_project_stats", "spring", **ask)
        assert spring["files"] == 3
        run_git(tree, "branch", "-f", "mine", "origin/spring")
        moved = await asked.ask("get_project_stats", "mine", **ask)
        assert moved["meta"]["commit"] == spring["meta"]["commit"]
        told = await asked.refused("mine", repo="plain")
        assert "plain is a directory, whose branches are those of its own Git" in told
